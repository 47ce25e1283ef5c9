/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that /proc shows. */
#ifndef TASKS_THREADS_H
#define TASKS_THREADS_H

#include <sys/types.h>

typedef void threads_fn(void *ctx, pid_t tid);

/* Calls `take` for all there are now; for the first one of a process maybe twice. */
void threads_each(threads_fn *take, void *ctx);
#endif
