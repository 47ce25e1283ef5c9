/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in /proc/PID/status. */
#ifndef BASE_PROCSTATUS_H
#define BASE_PROCSTATUS_H

#include <stdbool.h>
#include <sys/types.h>

/* The n-th number (0: the first; -1: the last) after `key`, such as "\nTgid:", in the file `path`, from the folder `dir` as
 * in openat(2). -ESRCH: the process has ended; -ENOENT: there is no such number. */
long procstatus_in(int dir, const char *path, const char *key, int n);
/* The first number after the key for that task. */
long procstatus_of(pid_t tid, const char *key);
/* Whether it is a thread of the kernel: a process without memory, started by kthreadd. */
bool procstatus_is_of_kernel(pid_t pid);
#endif
