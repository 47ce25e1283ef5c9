/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What expressions of analyses may call beside the built-in functions:
 *
 *	printf("%d:%d", cpu, pid)   text; C's conversions but `*`; integers are of 64 bits
 *	ksymbol(function)           the function of the kernel around an address; "[unknown]"
 *	comm_get(pid)               what a task is called at the time of the event
 *	syscall_name(id)            "futex"
 *	exit_reason_str(reason)     "HLT": why a guest was left, on a host of this kind
 */
#ifndef ENGINE_FUNCTIONS_H
#define ENGINE_FUNCTIONS_H

#include "engine/analysis.h"
#include "expr/expr.h"

/* The ctx of struct expr_run; its text has to have room for FUNCTION_TEXT bytes. */
struct function_ctx {
	struct analysis *a;
	uint64_t time;           /* perf clock: when tasks are called so */
};

enum { FUNCTION_TEXT = 512 };

enum { FUNCTIONS = 5 };
extern const struct expr_func analysis_functions[FUNCTIONS];

/* Before names_open(): whether the text of an expression may ask for kernel functions,
 * whose table is read ahead then. */
bool functions_need_kernel(const char *expr);
#endif
