/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_TASKMEMORY_H
#define TASKS_TASKMEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads memory of a thread's process: how many bytes, which may be fewer than n; or -1 with errno. */
ssize_t taskmemory_read(pid_t tid, uint64_t from, void *to, size_t n);
#endif
