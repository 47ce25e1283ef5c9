/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of each thread's present call, of those calls for which they are asked. */
#ifndef ANALYSIS_SYSCALLS_CALLARGS_H
#define ANALYSIS_SYSCALLS_CALLARGS_H

#include "engine/analysis.h"

enum { CALLARGS = 3 };   /* the first ones */

/* Initialized by zeros. */
struct callargs {
	const struct trace_field *field;   /* `args` of sys_enter; NULL: they were not sampled */
	struct callargs_call *all;         /* by thread */
};

/* The arguments of the call that begins with this sample. */
void callargs_read(const struct callargs *c, const struct analysis_sample *s, uint64_t args[CALLARGS]);
void callargs_keep(struct callargs *c, pid_t tid, int64_t number, const uint64_t args[CALLARGS]);
/* Those of the thread's last call, if it has that number and they were kept; else NULL. */
const uint64_t *callargs_of(const struct callargs *c, pid_t tid, int64_t number);
void callargs_exit(struct callargs *c, pid_t tid);
void callargs_forget(struct callargs *c);
#endif
