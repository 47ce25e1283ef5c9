/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which recorded processes run 32-bit programs: the code of the kernel that it maps into each program, [vdso], lies below 4 GiB, next
 * to the stack.
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
