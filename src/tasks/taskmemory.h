/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_TASKMEMORY_H
#define TASKS_TASKMEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Reads memory of a thread's process: how many bytes, which may be fewer than n; or -errno. -ETIME: it did not come within a second,
 * because another program has to supply it. */
ssize_t taskmemory_read(pid_t tid, uint64_t from, void *to, size_t n);
/* As process_vm_readv(2), with pieces of the same sizes on both sides. */
ssize_t taskmemory_readv(pid_t tid, const struct iovec *to, const struct iovec *from, size_t n);
#endif
