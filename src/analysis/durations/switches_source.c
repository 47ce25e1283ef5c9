/* SPDX-License-Identifier: Apache-2.0 */
/* task-state and rundelay as sources: each stretch of a task's life, told when it ends. */
#include "analysis/durations/commands.h"
#include "analysis/durations/processes.h"
#include "analysis/durations/switches.h"
#include "analysis/durations/task_state.h"
#include "base/pidns.h"

#include <stdlib.h>
#include <string.h>

struct switches_source {
	struct task_state_opts opts;         /* filter is ours */
	switches_fn *ended;
	struct switches switches;
	struct pairs pairs;
	struct maker *maker;
	const char *wakeup;                  /* the tracepoint */
	struct processes processes;
};

/* ---- whose stretch it was ------------------------------------------------------------- */

/* Who leaves a CPU says it. */
static void see_process(struct switches_source *src, const struct analysis_sample *s)
{
	if (s->event == src->switches.on_switch && s->pid > 0 && s->tid > 0)
		processes_set(&src->processes, s->tid, s->pid);
}

/* Of a recording. */
static void task(void *state, const struct pev_record *rec)
{
	struct switches_source *src = state;

	processes_take(&src->processes, rec);
	switches_task(&src->switches, rec);
}

/* ---- what it was called --------------------------------------------------------------- */

enum { COMM = 16 };

static void read_text(const struct trace_field *field, const struct analysis_sample *s, char comm[COMM])
{
	const char *text;
	uint32_t len;

	memset(comm, 0, COMM);
	if (!trace_field_data(field, s->view.raw, s->view.raw_size, &text, &len))
		memcpy(comm, text, len < COMM ? len : COMM - 1);
}

static bool is_switch(const struct switches_source *src, const struct analysis_sample *s)
{
	return s->event == src->switches.on_switch;
}

static pid_t prev_of(const struct switches_source *src, const struct analysis_sample *s)
{
	return stream_task(s->event, (pid_t)trace_field_sint(src->switches.prev_pid, s->view.raw));
}

/* The sample that ended the stretch names its task. */
static void read_comm(const struct switches_source *src, const struct analysis_sample *s, pid_t tid,
		      char comm[COMM])
{
	const struct trace_field *field = src->switches.woken_comm[s->event == src->switches.on_wakeup_new];

	if (is_switch(src, s))
		field = prev_of(src, s) == tid ? src->switches.prev_comm : src->switches.next_comm;
	read_text(field, s, comm);
}

/* ---- task-state ----------------------------------------------------------------------- */

struct made_state {
	struct made_head head;
	int32_t pid, tid;
	char comm[COMM], state[4];
	int32_t waker;
	uint64_t start, duration;
};

static const struct made_field state_fields[] = {
	MADE_FIELD(struct made_state, pid, "pid_t pid", true),
	MADE_FIELD(struct made_state, tid, "pid_t tid", true),
	MADE_FIELD(struct made_state, comm, "char comm[16]", false),
	MADE_FIELD(struct made_state, state, "char state[4]", false),
	MADE_FIELD(struct made_state, waker, "pid_t waker", true),
	MADE_FIELD(struct made_state, start, "u64 start", false),
	MADE_FIELD(struct made_state, duration, "u64 duration", false),
};

static void state_ended(void *ctx, const struct analysis_sample *s, pid_t tid, const struct pair_end *end)
{
	struct switches_source *src = ctx;
	struct made_state *e;
	char comm[COMM];

	if (end->duration < src->opts.pairs.than)
		return;
	read_comm(src, s, tid, comm);
	if (!task_state_is_shown(&src->opts, comm, end->value))
		return;
	e = maker_fields(src->maker);
	e->pid = pidmap_shown(processes_of(&src->processes, tid));
	e->tid = pidmap_shown(tid);
	memcpy(e->comm, comm, COMM);
	snprintf(e->state, sizeof(e->state), "%s", task_state_letter((enum task_state)end->value));
	e->waker = is_switch(src, s) ? 0 : pidmap_shown(s->tid);
	e->start = end->start;
	e->duration = end->duration;
	maker_emit(src->maker, s->time, e->pid, e->tid);
}

/* ---- rundelay ------------------------------------------------------------------------- */

struct made_delay {
	struct made_head head;
	int32_t pid, tid;
	char comm[COMM];
	int32_t prev_pid;
	char prev_comm[COMM];
	uint32_t unused;
	uint64_t start, duration;
};

static const struct made_field delay_fields[] = {
	MADE_FIELD(struct made_delay, pid, "pid_t pid", true),
	MADE_FIELD(struct made_delay, tid, "pid_t tid", true),
	MADE_FIELD(struct made_delay, comm, "char comm[16]", false),
	MADE_FIELD(struct made_delay, prev_pid, "pid_t prev_pid", true),
	MADE_FIELD(struct made_delay, prev_comm, "char prev_comm[16]", false),
	MADE_FIELD(struct made_delay, start, "u64 start", false),
	MADE_FIELD(struct made_delay, duration, "u64 duration", false),
};

static void delay_ended(void *ctx, const struct analysis_sample *s, pid_t tid, const struct pair_end *end)
{
	struct switches_source *src = ctx;
	struct made_delay *e;

	if (end->value != STATE_RUNNABLE || end->duration < src->opts.pairs.than || !is_switch(src, s))
		return;
	e = maker_fields(src->maker);
	e->pid = pidmap_shown(processes_of(&src->processes, tid));
	e->tid = pidmap_shown(tid);
	read_comm(src, s, tid, e->comm);
	e->prev_pid = pidmap_shown(prev_of(src, s));
	read_text(src->switches.prev_comm, s, e->prev_comm);
	e->start = end->start;
	e->duration = end->duration;
	maker_emit(src->maker, s->time, e->pid, e->tid);
}

/* ---- both ----------------------------------------------------------------------------- */

static int begin(void *state, struct maker *m, struct fault *f)
{
	struct switches_source *src = state;
	struct switches *w = &src->switches;

	src->maker = m;
	w->ctx = src;
	w->on_switch = maker_event(m, "sched", "sched_switch");
	w->on_wakeup = maker_event(m, "sched", src->wakeup);
	w->on_wakeup_new = maker_event(m, "sched", "sched_wakeup_new");
	w->on_fork = maker_event(m, "sched", "sched_process_fork");
	return switches_read_fields(w, f);
}

static void sample(void *state, struct maker *m, const struct stream_event *event,
		   const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct switches_source *src = state;
	const struct analysis_sample s = analysis_sample_of(event, rec, raw, raw_size, cpu);

	see_process(src, &s);
	switches_take(&src->switches, &src->pairs, &s, src->ended);
}

static void release(void *state)
{
	struct switches_source *src = state;

	pairs_free(&src->pairs);
	switches_free(&src->switches);
	processes_free(&src->processes);
	free((char *)src->opts.filter);
	free(src);
}

static const struct maker_ops ops = { .begin = begin, .sample = sample, .task = task, .free = release };

/* What wakes and switches is elsewhere than who is meant; the fork is the parent's own. */
static int watch(struct switches_source *src, struct maker *m, struct fault *f)
{
	const struct switches *w = &src->switches;

	src->wakeup = switches_wakeup(source_has(m, "sched", "sched_wakeup"), source_has(m, "sched", "sched_waking"));
	return source_watch(m, "sched", "sched_switch", true, f) ||
	       source_watch(m, "sched", src->wakeup, true, f) ||
	       source_watch(m, "sched", "sched_wakeup_new", true, f) ||
	       ((!w->everybody || !pidns_is_initial()) && !w->recorded &&
		source_watch(m, "sched", "sched_process_fork", false, f)) ? -1 : 0;
}

static int make(struct source *source, const struct task_state_opts *o, struct source_made *made,
		switches_fn *ended, struct fault *f)
{
	struct switches_source *src = calloc(1, sizeof(*src));
	struct maker *m;

	if (!src)
		return fault_set(f, EXIT_FAILED, "out of memory");
	src->opts = *o;
	src->opts.filter = o->filter ? strdup(o->filter) : NULL;
	src->ended = ended;
	made->ops = &ops;
	made->state = src;
	made->order = true;
	if ((o->filter && !src->opts.filter) || switches_choose(&src->switches, source_targets(source), f)) {
		release(src);
		return f->exit_code ? -1 : fault_set(f, EXIT_FAILED, "out of memory");
	}
	src->processes.recorded = src->switches.recorded;
	m = source_make(source, made, f);
	return m ? watch(src, m, f) : -1;
}

static int task_state_events(struct source *source, const void *config, struct fault *f)
{
	struct source_made made = {
		.fields = state_fields, .nfields = sizeof(state_fields) / sizeof(*state_fields),
		.print = "\"%s:%d %s for %llu.%03llu us\", REC->comm, REC->tid, REC->state, "
			 "REC->duration / 1000, REC->duration % 1000",
		.size = sizeof(struct made_state),
	};

	return make(source, config, &made, state_ended, f);
}

static int rundelay_events(struct source *source, const void *config, struct fault *f)
{
	const struct pair_opts *o = config;
	const struct task_state_opts as_states = { .pairs.than = o->than };
	struct source_made made = {
		.fields = delay_fields, .nfields = sizeof(delay_fields) / sizeof(*delay_fields),
		.print = "\"%s:%d waited %llu.%03llu us for %s:%d\", REC->comm, REC->tid, "
			 "REC->duration / 1000, REC->duration % 1000, REC->prev_comm, REC->prev_pid",
		.size = sizeof(struct made_delay),
	};

	return make(source, &as_states, &made, delay_ended, f);
}

static const struct opt_group task_state_groups[] = {
	{ "States", task_state_opts, TASK_STATE_NOPTS, 0 },
	{ "Durations", pair_opts_rows, PAIR_SOURCE_NOPTS, 0 },
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 },
};

static const struct opt_group rundelay_groups[] = {
	{ "Durations", pair_opts_rows, PAIR_SOURCE_NOPTS, 0 },
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 },
};

const struct source_ops task_state_source = {
	.name = "task-state",
	.summary = "each stretch that a task ran, waited or slept, when it ends",
	.makes = true,
	.groups = task_state_groups,
	.ngroups = sizeof(task_state_groups) / sizeof(*task_state_groups),
	.config_size = sizeof(struct task_state_opts),
	.events = task_state_events,
};

const struct source_ops rundelay_source = {
	.name = "rundelay",
	.summary = "each time a thread waited for a CPU, when it runs",
	.makes = true,
	.groups = rundelay_groups,
	.ngroups = sizeof(rundelay_groups) / sizeof(*rundelay_groups),
	.config_size = sizeof(struct pair_opts),
	.events = rundelay_events,
};
