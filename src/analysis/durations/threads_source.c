/* SPDX-License-Identifier: Apache-2.0 */
/* syscalls and kvm-exit as sources: what a thread begins and ends itself, told when it ends. */
#include "analysis/durations/commands.h"
#include "analysis/durations/exit_reasons.h"
#include "analysis/durations/pairs.h"
#include "engine/callnames.h"

#include <stdlib.h>
#include <string.h>

struct threads_source {
	const struct threads_kind *kind;
	uint64_t than;
	struct pairs pairs;                  /* by thread */
	struct maker *maker;
	const struct stream_event *first, *last;
	const struct trace_field *first_id, *last_id, *ret;   /* of system calls */
	struct exit_reasons reasons;                          /* of guests */
};

/* What the two differ in. */
struct threads_kind {
	const char *sys, *first, *last;
	int (*begin)(struct threads_source *src, struct fault *f);
	uint64_t (*value)(struct threads_source *src, const struct analysis_sample *s);   /* of a beginning */
	void (*ended)(struct threads_source *src, const struct analysis_sample *s, const struct pair_end *end);
};

/* ---- syscalls ------------------------------------------------------------------------- */

struct made_call {
	struct made_head head;
	int32_t pid, tid;
	char call[32];
	int64_t nr, ret;
	uint64_t start, duration;
};

static const struct made_field call_fields[] = {
	MADE_FIELD(struct made_call, pid, "pid_t pid", true),
	MADE_FIELD(struct made_call, tid, "pid_t tid", true),
	MADE_FIELD(struct made_call, call, "char call[32]", false),
	MADE_FIELD(struct made_call, nr, "s64 nr", true),
	MADE_FIELD(struct made_call, ret, "s64 ret", true),
	MADE_FIELD(struct made_call, start, "u64 start", false),
	MADE_FIELD(struct made_call, duration, "u64 duration", false),
};

static int calls_begin(struct threads_source *src, struct fault *f)
{
	src->first_id = analysis_field(src->first, "id", false, f);
	src->last_id = src->first_id ? analysis_field(src->last, "id", false, f) : NULL;
	src->ret = src->last_id ? analysis_field(src->last, "ret", false, f) : NULL;
	return src->ret ? 0 : -1;
}

static uint64_t call_value(struct threads_source *src, const struct analysis_sample *s)
{
	return (uint64_t)trace_field_sint(src->first_id, s->view.raw);
}

static void call_ended(struct threads_source *src, const struct analysis_sample *s,
		       const struct pair_end *end)
{
	int64_t nr = syscall_left(trace_field_sint(src->last_id, s->view.raw));
	struct made_call *e;
	char name[64];

	if ((int64_t)end->value != nr)   /* events were lost in between */
		return;
	call_name(nr, name, sizeof(name));
	e = maker_fields(src->maker);
	e->pid = s->pid;
	e->tid = pidmap_shown(s->tid);
	snprintf(e->call, sizeof(e->call), "%.*s", (int)strcspn(name, "("), name);
	e->nr = nr;
	e->ret = trace_field_sint(src->ret, s->view.raw);
	e->start = end->start;
	e->duration = end->duration;
	maker_emit(src->maker, s->time, s->pid, e->tid);
}

static const struct threads_kind calls = {
	"raw_syscalls", "sys_enter", "sys_exit", calls_begin, call_value, call_ended,
};

/* ---- kvm-exit ------------------------------------------------------------------------- */

struct made_exit {
	struct made_head head;
	int32_t pid, tid;
	char reason[48];
	uint64_t start, duration;
};

static const struct made_field exit_fields[] = {
	MADE_FIELD(struct made_exit, pid, "pid_t pid", true),
	MADE_FIELD(struct made_exit, tid, "pid_t tid", true),
	MADE_FIELD(struct made_exit, reason, "char reason[48]", false),
	MADE_FIELD(struct made_exit, start, "u64 start", false),
	MADE_FIELD(struct made_exit, duration, "u64 duration", false),
};

static int exits_begin(struct threads_source *src, struct fault *f)
{
	return exit_reasons_begin(&src->reasons, src->first, f);
}

static uint64_t exit_value(struct threads_source *src, const struct analysis_sample *s)
{
	return exit_reasons_code(&src->reasons, maker_formats(src->maker), s);
}

static void exit_ended(struct threads_source *src, const struct analysis_sample *s,
		       const struct pair_end *end)
{
	struct made_exit *e = maker_fields(src->maker);

	e->pid = s->pid;
	e->tid = pidmap_shown(s->tid);
	snprintf(e->reason, sizeof(e->reason), "%s", exit_reasons_name(&src->reasons, end->value));
	e->start = end->start;
	e->duration = end->duration;
	maker_emit(src->maker, s->time, s->pid, e->tid);
}

static const struct threads_kind exits = {
	"kvm", "kvm_exit", "kvm_entry", exits_begin, exit_value, exit_ended,
};

/* ---- both ----------------------------------------------------------------------------- */

static int begin(void *state, struct maker *m, struct fault *f)
{
	struct threads_source *src = state;

	src->maker = m;
	src->first = maker_event(m, src->kind->sys, src->kind->first);
	src->last = maker_event(m, src->kind->sys, src->kind->last);
	return src->kind->begin(src, f);
}

static void sample(void *state, struct maker *m, const struct stream_event *event,
		   const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct threads_source *src = state;
	const struct analysis_sample s = analysis_sample_of(event, rec, raw, raw_size, cpu);
	struct pair_end end;

	if (event == src->first)
		pairs_start(&src->pairs, &s, (uint64_t)s.tid, src->kind->value(src, &s));
	else if (pairs_end(&src->pairs, &s, (uint64_t)s.tid, &end) && end.duration >= src->than)
		src->kind->ended(src, &s, &end);
}

static void release(void *state)
{
	struct threads_source *src = state;

	pairs_free(&src->pairs);
	exit_reasons_free(&src->reasons);
	free(src);
}

static const struct maker_ops ops = { .begin = begin, .sample = sample, .free = release };

static int make(struct source *source, const struct pair_opts *o, struct source_made *made,
		const struct threads_kind *kind, struct fault *f)
{
	struct threads_source *src = calloc(1, sizeof(*src));
	struct maker *m;

	if (!src)
		return fault_set(f, EXIT_FAILED, "out of memory");
	src->kind = kind;
	src->than = o->than;
	made->ops = &ops;
	made->state = src;
	made->order = true;   /* a thread moves to another CPU meanwhile */
	m = source_make(source, made, f);
	return !m || source_watch(m, kind->sys, kind->first, false, f) ||
	       source_watch(m, kind->sys, kind->last, false, f) ? -1 : 0;
}

static int calls_events(struct source *source, const void *config, struct fault *f)
{
	struct source_made made = {
		.fields = call_fields, .nfields = sizeof(call_fields) / sizeof(*call_fields),
		.print = "\"%s = %lld after %llu.%03llu us\", REC->call, REC->ret, REC->duration / 1000, "
			 "REC->duration % 1000",
		.size = sizeof(struct made_call),
	};

	return make(source, config, &made, &calls, f);
}

static int exits_events(struct source *source, const void *config, struct fault *f)
{
	struct source_made made = {
		.fields = exit_fields, .nfields = sizeof(exit_fields) / sizeof(*exit_fields),
		.print = "\"%s took %llu.%03llu us\", REC->reason, REC->duration / 1000, REC->duration % 1000",
		.size = sizeof(struct made_exit),
	};

	return make(source, config, &made, &exits, f);
}

static const struct opt_group groups[] = {
	{ "Durations", pair_opts_rows, PAIR_SOURCE_NOPTS, 0 },
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 },
};
enum { NGROUPS = sizeof(groups) / sizeof(*groups) };

const struct source_ops syscalls_source = {
	.name = "syscalls",
	.summary = "each system call, when it returns",
	.makes = true,
	.groups = groups,
	.ngroups = NGROUPS,
	.config_size = sizeof(struct pair_opts),
	.events = calls_events,
};

const struct source_ops kvm_exit_source = {
	.name = "kvm-exit",
	.summary = "each exit of a guest, when the guest is entered again",
	.makes = true,
	.groups = groups,
	.ngroups = NGROUPS,
	.config_size = sizeof(struct pair_opts),
	.events = exits_events,
};
