/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which recorded processes run 32-bit programs: their code lies below 4 GiB. That of 64-bit programs does not, since the kernel maps
 * its own code into each program, next to the stack.
 */
#ifndef TASKS_NARROW_H
#define TASKS_NARROW_H

#include "perfevent.h"

#include <stdbool.h>
#include <sys/types.h>

/* Initialized by zeros. */
struct narrow {
	struct narrow_process *all;
};

void narrow_take(struct narrow *n, const struct pev_record *rec);
/* False also if nothing is known of it. */
bool narrow_is(const struct narrow *n, pid_t pid);
void narrow_free(struct narrow *n);
#endif
