/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All threads of a process, stopped by ptrace(2) while their registers and stacks are copied. PTRACE_SEIZE and
 * PTRACE_INTERRUPT send no signal, and the kernel lets the threads go on if perf-prof ends meanwhile, for whatever
 * reason.
 */
#ifndef TASKS_STOPPED_H
#define TASKS_STOPPED_H

#include "symbols/dwarf/unwind.h"

#include <sys/types.h>

enum { STOPPED_REGS = 33, STOPPED_THREADS = 4096 };

struct stopped_thread {
	pid_t tid;
	bool ran;                /* it ran, or was ready to run, and not in a system call that waits */
	bool seized, stopped;
	bool foreign;            /* in code of another machine, such as 32-bit code: registers are not known */
	int signal;              /* that it was about to take; 0: none */
	uint64_t regs[STOPPED_REGS];
	char *stack;
	size_t stack_size;
};

struct stopped {
	pid_t pid;
	struct stopped_thread *v;
	size_t n, room;
	size_t bytes;            /* of all stacks */
};

/* Stops the threads, and copies registers and stacks. Threads that do not stop within a second, since they are in an
 * uninterruptible system call, have stopped false. 0; -ESRCH: there is no such process; -EPERM; -E2BIG: more
 * than STOPPED_THREADS; -EOPNOTSUPP: this machine is neither x86-64 nor arm64; or another -errno: then nothing is stopped. */
int stopped_begin(struct stopped *s, pid_t pid);
/* Lets the threads go on; what was copied stays. */
void stopped_continue(struct stopped *s);
void stopped_free(struct stopped *s);
/* NULL: there is no such thread. */
const struct stopped_thread *stopped_find(const struct stopped *s, pid_t tid);
/* For unwind(); false: registers are not known. */
bool stopped_sample(const struct stopped_thread *t, struct unwind_sample *out);
#endif
