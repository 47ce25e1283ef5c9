/* SPDX-License-Identifier: Apache-2.0 */
/* Names of system calls and of errors. */
#ifndef ENGINE_CALLNAMES_H
#define ENGINE_CALLNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "futex"; NULL: the number is not known. */
const char *syscall_name(int64_t nr);
/* The call that programs of this machine's 32-bit kind make by that number, which events do not tell from the others; NULL: none,
 * or the kernel runs no such programs. */
const char *syscall_name_of_32(int64_t nr);
/* The number of the call with that name; -1: there is none, or the names are not known. */
int64_t syscall_number(const char *name);
/* The call's number, from the id of a raw_syscalls:sys_exit event. For rt_sigreturn, the kernel reports -1 there. */
int64_t syscall_left(int64_t nr);
/* Whether ret of sys_exit is the call's result. For rt_sigreturn, it is a register of what the signal interrupted. */
bool syscall_has_result(int64_t nr);
/* "futex(202)"; "syscall(999)" if the number is not known. Returns buf. */
char *call_name(int64_t nr, char *buf, size_t size);
/* "EAGAIN"; of the kernel's own codes "ERESTARTSYS"; else "error 4095". Returns buf. */
char *error_name(int error, char *buf, size_t size);
#endif
