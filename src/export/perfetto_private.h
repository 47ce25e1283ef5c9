/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of --to perfetto share: packets of a trace, and the names of its messages. */
#ifndef EXPORT_PERFETTO_PRIVATE_H
#define EXPORT_PERFETTO_PRIVATE_H

#include "engine/analysis.h"
#include "export/protofile.h"
#include "export/wordlist.h"
#include "perfetto.pb-c.h"

/* Writes one. */
void perfetto_put(struct protofile *file, Perfetto__Protos__TracePacket *packet);
/* The same, with things that are named by number from here on. */
void perfetto_put_interned(struct protofile *file, Perfetto__Protos__InternedData *data);

/* ---- stacks (perfetto_stacks.c): each thing that they consist of is written once, before it is
 * referred to, and numbered from 1 */
struct perfetto_stacks {
	struct protofile *file;
	struct wordlist functions, paths, sources, builds;
	struct numbers mappings, frames, stacks;
	uint64_t *ids;               /* frames of a stack */
	uint32_t room;
	bool lost;
};

void perfetto_stacks_begin(struct perfetto_stacks *s, struct protofile *file);
void perfetto_stacks_free(struct perfetto_stacks *s);
/* Its number; 0: there is none. */
uint64_t perfetto_stack(struct perfetto_stacks *s, struct analysis *a, struct callstack *stack);

/* ---- tracepoints (perfetto_ftrace.c) that the format has a message for */
struct perfetto_ftrace;

/* Whether a field holds a task's id as the kernel knows it; such an id as samples have it, where they differ. */
bool perfetto_names_task(const struct tracefmt *fmt, const struct trace_field *field);
int64_t perfetto_task(const struct trace_field *field, const struct analysis_sample *s);
/* NULL: none is like it, or no memory (*lost then). */
struct perfetto_ftrace *perfetto_ftrace_new(const struct tracefmt *fmt, bool *lost);
void perfetto_ftrace_free(struct perfetto_ftrace *p);
void perfetto_ftrace_put(struct perfetto_ftrace *p, const struct analysis_sample *s, struct protofile *file);
#endif
