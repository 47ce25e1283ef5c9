/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stack from the native functions of a thread and its Python functions. Each call of CPython's evaluation loop is a
 * native function, and runs one or more Python functions, which take its place.
 */
#ifndef ANALYSIS_DUMP_MERGE_H
#define ANALYSIS_DUMP_MERGE_H

#include "engine/callstacks.h"
#include "tasks/stopped.h"

/* Native functions of the threads of one process, which are read while it is stopped, and named when it runs again. */

struct dump_native;

struct dump_frames {
	const struct frame **v;  /* innermost first */
	size_t n, room;
	bool cut;                /* there are more */
	bool lost;               /* out of memory */
};

/* Before the process is stopped. NULL: out of memory. */
struct dump_native *dump_native_new(pid_t pid);
void dump_native_free(struct dump_native *d);
/* Reads which files are mapped: while it is stopped. */
void dump_native_map(struct dump_native *d);
/* Appends the functions of a thread, inlined ones included, which are valid until dump_native_free(). */
void dump_native_stack(struct dump_native *d, const struct stopped_thread *t, struct dump_frames *out);

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
