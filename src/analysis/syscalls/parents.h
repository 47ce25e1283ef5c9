/* SPDX-License-Identifier: Apache-2.0 */
/* The process that has made each process, also after one of the two has ended: by FORK records, or for older ones by /proc. */
#ifndef ANALYSIS_SYSCALLS_PARENTS_H
#define ANALYSIS_SYSCALLS_PARENTS_H

#include "perfevent.h"

#include <stdbool.h>
#include <sys/types.h>

/* Initialized by zeros. */
struct parents {
	bool recorded;           /* the processes are of a recording: /proc does not know them */
	struct parent *all;      /* by process */
};

/* Takes FORK records; ignores others. */
void parents_take(struct parents *p, const struct pev_record *rec);
/* Reads those of all running processes: of one that ends after its call, it could not be read any more. */
void parents_read_all(struct parents *p);
/* 0: not known. */
pid_t parents_of(struct parents *p, pid_t pid);
void parents_free(struct parents *p);
#endif
