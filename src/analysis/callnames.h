/* SPDX-License-Identifier: Apache-2.0 */
/* Names of system calls and of errors. */
#ifndef ANALYSIS_CALLNAMES_H
#define ANALYSIS_CALLNAMES_H

#include <stddef.h>
#include <stdint.h>

/* "futex"; NULL: it has no name here. */
const char *syscall_name(int64_t nr);
/* The number of the call that a raw_syscalls:sys_exit is of: where a signal's handler returns, the kernel has
 * forgotten it (-1). */
int64_t syscall_left(int64_t nr);
/* "futex(202)"; "syscall(999)" of one that has no name here. Returns buf. */
char *call_name(int64_t nr, char *buf, size_t size);
/* "EAGAIN"; "error 4095". Returns buf. */
char *error_name(int error, char *buf, size_t size);
#endif
