/* SPDX-License-Identifier: Apache-2.0 */
/* The process of each thread, from samples, FORK and COMM records, and /proc. */
#ifndef ROWS_PROCESSES_H
#define ROWS_PROCESSES_H

#include "perfevent.h"

#include <stdbool.h>
#include <sys/types.h>

/* Initialized by zeros. */
struct processes {
	struct thread_process *all;
	bool recorded;           /* threads are from a recording: /proc is not read; set before processes_of() */
};

void processes_set(struct processes *p, pid_t tid, pid_t pid);
/* Takes FORK and COMM records; ignores others. */
void processes_take(struct processes *p, const struct pev_record *rec);
/* The thread's process; tid itself if it is not known. */
pid_t processes_of(struct processes *p, pid_t tid);
void processes_free(struct processes *p);
#endif
