/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for expressions in analyses, in addition to the built-in ones:
 *
 *	printf("%d:%d", cpu, pid)   text; C's conversions without `*`; integers have 64 bits
 *	ksymbol(function)           the kernel function at an address, or "[unknown]"
 *	comm_get(pid)               a task's name at the time of the event
 *	syscall_name(id)            "futex"
 *	exit_reason_str(reason)     "HLT": an exit reason of this machine's CPU
 *	_comm                       the name of the task that ran
 */
#ifndef ENGINE_FUNCTIONS_H
#define ENGINE_FUNCTIONS_H

#include "engine/analysis.h"
#include "expr/expr.h"

/* The ctx of struct expr_run; its text needs FUNCTION_TEXT bytes. */
struct function_ctx {
	struct analysis *a;
	const struct analysis_sample *s;
	uint64_t time;           /* perf clock; names of tasks are those at this time */
	pid_t tid;
};

enum { FUNCTION_TEXT = 512 };

enum { FUNCTION_SYSCALL_NAME = 4, FUNCTIONS = 6 };
extern const struct expr_func analysis_functions[FUNCTIONS];

/* Whether an expression needs names of kernel functions. To be called before names_open(), which
 * then reads their table. */
bool functions_need_kernel(const char *expr);
#endif
