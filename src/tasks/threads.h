/* SPDX-License-Identifier: Apache-2.0 */
/* The threads listed in /proc. */
#ifndef TASKS_THREADS_H
#define TASKS_THREADS_H

#include <sys/types.h>

typedef void threads_fn(void *ctx, pid_t tid);

/* Calls `take` for each thread; the main thread of a process may come twice. */
void threads_each(threads_fn *take, void *ctx);
/* Only for each process. */
void threads_each_process(threads_fn *take, void *ctx);
#endif
