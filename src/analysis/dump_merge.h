/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stack from the native functions of a thread and its Python functions. Each call of CPython's evaluation loop is a
 * native function, and runs one or more Python functions, which take its place.
 */
#ifndef ANALYSIS_DUMP_MERGE_H
#define ANALYSIS_DUMP_MERGE_H

#include "analysis/dump_native.h"

/* A Python function, and the call of the loop that runs it; 0: the innermost one. */
struct dump_script {
	struct frame frame;
	unsigned int call;
};

/* The number of calls of the loop. */
unsigned int dump_loops(const struct dump_frames *native);
/* Appends the stack, all of it innermost first; `scripts` outlive it. False: the native functions have another number of
 * calls than `calls`; then nothing is appended. */
bool dump_merge(struct dump_frames *out, const struct dump_frames *native, const struct dump_script *scripts, size_t n,
		unsigned int calls);
#endif
