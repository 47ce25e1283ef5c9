/* SPDX-License-Identifier: Apache-2.0 */
/* Native functions of the threads of one process, which are read while it is stopped, and named when it runs again. */
#ifndef ANALYSIS_DUMP_NATIVE_H
#define ANALYSIS_DUMP_NATIVE_H

#include "engine/callstacks.h"
#include "tasks/stopped.h"

struct dump_native;

/* Before the process is stopped. NULL: out of memory. */
struct dump_native *dump_native_new(pid_t pid);
void dump_native_free(struct dump_native *d);
/* Reads which files are mapped: while it is stopped. */
void dump_native_map(struct dump_native *d);

struct dump_frames {
	const struct frame **v;  /* innermost first */
	size_t n, room;
	bool cut;                /* there are more */
	bool lost;               /* out of memory */
};

/* Appends the functions of a thread, inlined ones included, which are valid until dump_native_free(). */
void dump_native_stack(struct dump_native *d, const struct stopped_thread *t, struct dump_frames *out);
#endif
