/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of --to perfetto. */
#ifndef EXPORT_PERFETTO_PRIVATE_H
#define EXPORT_PERFETTO_PRIVATE_H

#include "engine/analysis.h"
#include "export/protofile.h"
#include "export/wordlist.h"
#include "perfetto.pb-c.h"

/* Writes a packet. */
void perfetto_put(struct protofile *file, Perfetto__Protos__TracePacket *packet);
/* Writes interned data: names and stacks that later packets refer to by number. */
void perfetto_put_interned(struct protofile *file, Perfetto__Protos__InternedData *data);

/* ---- perfetto_stacks.c: stacks. Their parts are numbered from 1 and written once, before packets refer to
 * them */
struct perfetto_stacks {
	struct protofile *file;
	struct words functions, paths, sources, builds;
	struct numbers mappings, frames, stacks;
	uint64_t *ids;               /* frames of the current stack */
	size_t room;
	bool lost;
};

void perfetto_stacks_begin(struct perfetto_stacks *s, struct protofile *file);
void perfetto_stacks_free(struct perfetto_stacks *s);
/* The number of the stack, written on first use; 0: no stack. */
uint64_t perfetto_stack(struct perfetto_stacks *s, struct analysis *a, struct callstack *stack);

/* ---- perfetto_ftrace.c: tracepoints for which the format has a message */
struct perfetto_ftrace;

/* Whether the field holds a task's id; and the id as samples have it, which can differ from the kernel's. */
bool perfetto_names_task(const struct tracefmt *fmt, const struct trace_field *field);
int64_t perfetto_task(const struct trace_field *field, const struct analysis_sample *s);
/* NULL if Perfetto does not know the tracepoint, or without memory (then *lost is set). */
struct perfetto_ftrace *perfetto_ftrace_new(const struct tracefmt *fmt, bool *lost);
void perfetto_ftrace_free(struct perfetto_ftrace *p);
void perfetto_ftrace_put(struct perfetto_ftrace *p, const struct analysis_sample *s, struct protofile *file);
#endif
