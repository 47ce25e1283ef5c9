/* SPDX-License-Identifier: Apache-2.0 */
/* Names of system calls and of errors. */
#ifndef ENGINE_CALLNAMES_H
#define ENGINE_CALLNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A call is its number and, in the upper 32 bits, the table that names it: 0 for the calls of this machine's own programs, others
 * for those of 32-bit programs and of recordings from other machines.
 */
static inline int64_t call_number(int64_t call)
{
	return call < 0 ? call : (int32_t)call;
}

struct analysis_sample;
/* The call of a sample of raw_syscalls:sys_enter with that id: by its registers, if it has any. */
int64_t sampled_call(const struct analysis_sample *s, int64_t nr);
/* The call that 32-bit programs of this machine make by that number, if its kernel runs any. */
int64_t call_of_32(int64_t nr);
/* "futex"; NULL: not known. */
const char *syscall_name(int64_t call);
/* The call's number, from the id of a raw_syscalls:sys_exit event. For rt_sigreturn, the kernel reports -1 there. */
int64_t syscall_left(int64_t nr);
/* Whether ret of sys_exit is the call's result. For rt_sigreturn, it is a register of what the signal interrupted. */
bool syscall_has_result(int64_t call);
/* "futex(202)"; "syscall(999)" if the number is not known. Returns buf. */
char *call_name(int64_t call, char *buf, size_t size);
/* "EAGAIN"; of the kernel's own codes "ERESTARTSYS"; else "error 4095". Returns buf. */
char *error_name(int error, char *buf, size_t size);
#endif
