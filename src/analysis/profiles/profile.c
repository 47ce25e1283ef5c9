/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof profile: where CPUs spend their time, and with --off-cpu what tasks wait for.
 *
 * With --off-cpu, times on and off CPUs are measured by the scheduler's events:
 *
 *	switch to T     T preempted     switch to T     T sleeps       T woken     switch to T
 *	|--- on CPU ---|   neither      |--- on CPU ---|--------- blocked ---------|
 *
 * The time on CPUs is from sched_stat_runtime, the same account as CLOCK_THREAD_CPUTIME_ID, time(1) and
 * top; in a recording without it, from the switches.
 *
 * Samples of cycles or a clock only show the functions: the time of all tasks with the same name is
 * divided among their samples by weight. A sample's period is not a time: cycles depend on the CPU's
 * frequency, and a task that runs for less than the time between two samples mostly has no sample.
 */
#include "analysis/profiles/profile.h"

#include "analysis/durations/sleepers.h"
#include "analysis/durations/switches.h"
#include "analysis/profiles/commands.h"
#include "analysis/profiles/hotspots.h"
#include "analysis/profiles/pyprofile.h"
#include "base/note.h"
#include "base/pidns.h"
#include "base/procstatus.h"
#include "base/room.h"
#include "base/units.h"
#include "report/terminal.h"
#include "table/pairs.h"
#include "tasks/cputime.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The time that tasks were on CPUs, from sched_switch events. */

struct oncpu {
	struct oncpu_cpu *cpus;
	size_t ncpus;
	uint64_t start;              /* time of the first event, ns: the first task of a CPU counts from here */
};

enum { MAX_CPUS = 1 << 16 };             /* a damaged recording can have any number */

struct oncpu_cpu {
	bool known;                      /* `tid` is known */
	pid_t tid;                       /* the task that runs */
	uint64_t since;
};

static struct oncpu_cpu *cpu_of(struct oncpu *o, uint32_t cpu)
{
	return cpu < MAX_CPUS && ROOM_AT(o->cpus, o->ncpus, cpu) ? &o->cpus[cpu] : NULL;
}

/* To be called first for each event, in order of time. */
static void oncpu_see(struct oncpu *o, uint64_t time)
{
	if (!o->start)
		o->start = time;
}

/* The ns that `tid` has run on the CPU, up to `time`, since it came onto the CPU or since the last call. 0 if another
 * task runs there. */
static uint64_t oncpu_take(struct oncpu *o, uint32_t cpu, pid_t tid, uint64_t time)
{
	struct oncpu_cpu *c = cpu_of(o, cpu);
	uint64_t since;

	if (!c)
		return 0;
	if (!c->known)   /* it has run since before the first event */
		*c = (struct oncpu_cpu){ true, tid, o->start };
	if (c->tid != tid || time <= c->since)
		return 0;
	since = c->since;
	c->since = time;
	return time - since;
}

/* A switch from prev to next. *ran: oncpu_take() for prev. False: no switch to prev was reported, so the time that
 * it ran is not known. */
static bool oncpu_switch(struct oncpu *o, uint32_t cpu, pid_t prev, pid_t next, uint64_t time, uint64_t *ran)
{
	struct oncpu_cpu *c;
	bool seen;

	*ran = oncpu_take(o, cpu, prev, time);
	c = cpu_of(o, cpu);
	if (!c)
		return false;
	seen = c->tid == prev;
	*c = (struct oncpu_cpu){ true, next, time };
	return seen;
}

/* The task that runs on that CPU; -1: not known. cpu < o->ncpus. */
static pid_t oncpu_task(const struct oncpu *o, uint32_t cpu)
{
	return cpu < o->ncpus && o->cpus[cpu].known ? o->cpus[cpu].tid : -1;
}

static void oncpu_free(struct oncpu *o)
{
	free(o->cpus);
	*o = (struct oncpu){ 0 };
}

struct profile {
	struct profile_opts opts;
	struct flame_config flame;
	bool off_cpu;
	struct pyprofile_opts python;
	bool may_read_python;   /* see struct hotspots_view */
	bool prints_samples;             /* --samples */
	bool refreshes;                  /* on a terminal: the table so far, each second */
	struct hotspots hot;
	uint64_t idle;                   /* weight of samples on idle CPUs */
	uint64_t skid;                   /* samples in the kernel, though the event counts user space only */
	struct stream_event *clock;      /* the event of the profile */
	char what[256];                  /* its name: "cpu-clock" */
	struct switches switches;
	struct sleepers sleepers;
	struct oncpu oncpu;
	uint64_t unseen;                 /* stretches on CPUs whose beginning was not reported */
	struct pairs pairs;              /* times off the CPU, by thread; value: the callstack */
	struct pairs preempted;          /* threads that wait for a CPU since they were preempted */
	uint64_t waited;                 /* ns for which they did, since the last table */
	uint64_t from, last;             /* the table's beginning; the newest sample */
	bool sampled;                    /* `clock` has samples */
	const struct stream_event *other;   /* another event that has samples; or NULL */
	struct cputime before;           /* of the watched processes, at the beginning; */
	bool has_before;                 /* it is known of all of them */
	bool all;                        /* -e has only tracepoints: the samples of all count, each as one */
};

/* Whether weights are ns. */
static bool is_clock(const struct profile *p)
{
	return !p->all && analysis_is_clock(p->clock);
}

/* ---- samples ------------------------------------------------------------------------ */

static uint64_t weight_of(const struct profile *p, const struct analysis_sample *s)
{
	return p->all ? 1 : analysis_weight(s);
}

/* Adds time on a CPU to the task's present name. */
static void measure(struct analysis *a, pid_t tid, uint64_t ns)
{
	struct profile *p = a->config;

	if (ns && switches_watch(&p->switches, tid))
		hotspots_measure(&p->hot, analysis_comm(a, tid), ns);
}

/* Adds the time of running tasks up to `time`. */
static void measure_running(struct analysis *a, uint64_t time)
{
	struct profile *p = a->config;

	for (uint32_t cpu = 0; cpu < p->oncpu.ncpus; cpu++) {
		pid_t tid = oncpu_task(&p->oncpu, cpu);

		if (tid > 0)
			measure(a, tid, oncpu_take(&p->oncpu, cpu, tid, time));
	}
}

/* The switches also know who runs outside of the PID namespace. */
static pid_t task_of(const struct profile *p, const struct analysis_sample *s)
{
	pid_t runs = p->off_cpu && s->tid == PIDMAP_OUTER ? oncpu_task(&p->oncpu, s->cpu) : 0;

	return runs > 0 ? runs : s->tid;
}

static void take_clock(struct analysis *a, const struct analysis_sample *s)
{
	struct profile *p = a->config;
	const pid_t tid = task_of(p, s);

	if (p->off_cpu && !switches_watch(&p->switches, tid))
		return;
	if (!tid && !p->all) {
		p->idle += weight_of(p, s);
		p->sampled = true;
		return;
	}
	if (p->off_cpu && !p->switches.on_runtime)
		measure(a, tid, oncpu_take(&p->oncpu, s->cpu, tid, s->time));
	hotspots_see(&p->hot, a, s);
	hotspots_add(&p->hot, analysis_comm(a, tid), analysis_where(a, s), weight_of(p, s), false);
	p->sampled = true;
	p->skid += analysis_is_skid(s);
	if (p->prints_samples)
		analysis_print(a, s);
}

static void end_block(struct analysis *a, pid_t tid, uint64_t time)
{
	struct profile *p = a->config;
	struct open_pair *slept = pairs_find(&p->pairs, (uint64_t)tid);

	if (!slept)
		return;
	if (time > slept->start)
		hotspots_add(&p->hot, analysis_comm(a, tid), (struct callstack *)(uintptr_t)slept->value,
			     time - slept->start, true);
	pairs_cancel(&p->pairs, slept);
}

static void end_wait(struct profile *p, pid_t tid, uint64_t time)
{
	struct open_pair *o = pairs_find(&p->preempted, (uint64_t)tid);

	if (!o)
		return;
	p->waited += time > o->start ? time - o->start : 0;
	pairs_cancel(&p->preempted, o);
}

/* A task that has run for ns did not sleep then. This ends its sleep if the kernel has left out a switch, as some do
 * on an idle CPU. */
static void take_runtime(struct analysis *a, const struct analysis_sample *s)
{
	struct profile *p = a->config;
	pid_t tid;
	uint64_t ns = switches_runtime(&p->switches, s, &tid);

	end_block(a, tid, s->time > ns ? s->time - ns : 0);
	end_wait(p, tid, s->time > ns ? s->time - ns : 0);
	measure(a, tid, ns);
}

static void take_turn(struct analysis *a, const struct analysis_sample *s, const struct switch_event *e)
{
	struct profile *p = a->config;
	uint64_t ran;

	if (!p->switches.on_runtime) {
		if (!oncpu_switch(&p->oncpu, s->cpu, e->prev, e->next, s->time, &ran))
			p->unseen += switches_watch(&p->switches, e->prev);
		measure(a, e->prev, ran);
	}
	end_block(a, e->next, s->time);
	end_wait(p, e->next, s->time);
	if (e->preempted && switches_watch(&p->switches, e->prev))
		pairs_start(&p->preempted, s->time, (uint64_t)e->prev, 0);
}

static void take_switch(struct analysis *a, const struct analysis_sample *s)
{
	struct profile *p = a->config;
	struct switch_event e;

	if (s->event == p->switches.on_runtime)
		take_runtime(a, s);
	if (!switches_read(&p->switches, s, &e))
		return;
	if (s->event == p->switches.on_switch)
		take_turn(a, s, &e);
	if (s->event == p->switches.on_stack && e.sleeps && switches_watch(&p->switches, e.prev))
		pairs_start(&p->pairs, s->time, (uint64_t)e.prev, (uint64_t)(uintptr_t)analysis_stack(a, s));
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct profile *p = a->config;

	p->last = s->time;
	if (!p->from)
		p->from = s->time;
	if (p->off_cpu)
		oncpu_see(&p->oncpu, s->time);
	if (p->all ? analysis_has_place(s->event) : s->event->opened.family == p->clock->opened.family)
		take_clock(a, s);
	else if (p->off_cpu)
		take_switch(a, s);
	else if (s->event->sampling)
		p->other = s->event;
}

/* ---- the run ------------------------------------------------------------------------ */

static int events(struct analysis *a, struct fault *f)
{
	struct profile *p = a->config;
	if (p->off_cpu) {
		a->opts->stream.call_graph = true;
		if (!a->opts->stream.user_callchain)
			a->opts->stream.user_callchain = 1;
		if (switches_events(&p->switches, a, f))
			return -1;
	}
	return profile_add(a, &p->opts, f);
}

/* -e may have only one event: weights of different events cannot be added. */
static int check_asked(struct analysis *a, struct profile *p, const struct stream_event *all, size_t n,
		       struct fault *f)
{
	for (size_t i = 1; i < n; i++)
		if (all[i].asked.item != all[0].asked.item)
			return fault_usage(f, "profile: -e %s and %s: expected one event; to see "
					   "several, use `perf-prof record -e` and `perf-prof "
					   "report`", all[0].name, all[i].name);
	if (!analysis_has_place(&all[0]))
		return fault_usage(f, "profile: samples of %s have no address: add -g", all[0].name);
	return profile_set_levels(a, &p->opts, f);
}

/* Only sched_switch needs call chains, not the scheduler's other tracepoints. */
static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	const struct profile *p = a->config;

	if (p->off_cpu && event->fmt)
		return PERF_SAMPLE_RAW | (switches_is_switch(event) ? PERF_SAMPLE_CALLCHAIN : 0);
	return p->prints_samples ? STREAM_READS_ALL : ANALYSIS_WHERE | analysis_weight_part(event);
}

static bool is_usual(const struct stream_event *e)
{
	const struct perf_event_attr *attr = &e->sampling->attr.attr;

	return analysis_is_clock(e) ||
	       (attr->type == PERF_TYPE_HARDWARE && (uint32_t)attr->config == PERF_COUNT_HW_CPU_CYCLES);
}

/* Chooses a recording's event: the first one that counts cycles or a clock, else the first perf event. */
static struct stream_event *choose(struct analysis *a, struct stream_event *all, size_t n)
{
	struct stream_event *best = NULL;
	size_t sampled = 0;

	for (size_t i = 0; i < n; i++) {
		sampled += all[i].sampling != NULL;
		if (all[i].sampling && (!best || (!is_usual(best) && is_usual(&all[i]))))
			best = &all[i];
	}
	if (sampled > 1)
		note(a->opts->stream.verbose, "the profile is of %s, one of %zu events; -e EVENT chooses another, "
		     "report shows all", analysis_counted(best), sampled);
	return best;
}

enum { NAMES_SHOWN = 3 };

/* The events of one profile: those that a glob of -e matches, or a recording has. "3 probes: uprobe:a, uprobe:b, uprobe:c" */
static void name_all(struct profile *p, const struct stream_event *all, size_t n)
{
	size_t placed = 0, shown = 0, at;

	for (size_t i = 0; i < n; i++)
		placed += analysis_has_place(&all[i]);
	if (placed < 2)
		return;
	at = (size_t)snprintf(p->what, sizeof(p->what), "%zu %s", placed, strstr(p->clock->name, "probe:") ? "probes" : "events");
	for (size_t i = 0; i < n && shown < NAMES_SHOWN && at < sizeof(p->what); i++)
		if (analysis_has_place(&all[i]))
			at += (size_t)snprintf(p->what + at, sizeof(p->what) - at, "%s%.60s", shown++ ? ", " : ": ", all[i].name);
	if (placed > shown && at < sizeof(p->what))
		snprintf(p->what + at, sizeof(p->what) - at, ", ...");
}

static int begin(struct analysis *a, struct fault *f)
{
	struct profile *p = a->config;
	size_t n;
	struct stream_event *all = stream_events(a->stream, &n);

	if (p->opts.asked && !a->opts->stream.input && check_asked(a, p, all, n, f))
		return -1;
	p->clock = choose(a, all, n);
	for (size_t i = 0; i < n && !p->clock && p->opts.asked; i++)
		if (analysis_has_place(&all[i])) {
			p->clock = &all[i];
			p->all = true;
		}
	if (!p->clock && p->off_cpu)
		return fault_usage(f, "%s: --off-cpu: the recording has no samples of a clock or of cycles, for the time on CPUs; "
				   "`perf-prof record -a -g -e cpu-clock -e sched:sched_switch` takes what --off-cpu needs", a->ops->name);
	if (!p->clock)
		return fault_usage(f, "%s: the recording has no samples of a clock or of cycles; "
				   "`perf record` takes them by default", a->ops->name);
	p->clock->names_ip = true;
	analysis_family(a, p->clock, p->what, sizeof(p->what));
	if (p->all)
		name_all(p, all, n);
	if (flame_begin(&p->flame, a->opts->stream.verbose, f) ||
	    (p->off_cpu && switches_begin(&p->switches, a, f)))
		return -1;
	if (p->off_cpu)
		sleepers_begin(&p->sleepers, &p->switches);
	return 0;
}

static void slept(void *ctx, pid_t tid, enum task_state state)
{
	struct analysis *a = ctx;
	struct profile *p = a->config;
	uint64_t now = analysis_end(a, p->last);

	(void)state;
	if (p->from && now > p->from)
		hotspots_add_asleep(&p->hot, analysis_comm(a, tid), now - p->from);
}

/* Sleeping tasks have their stacks from earlier intervals. */
static void keep_sleepers(void *ctx)
{
	const struct profile *p = ctx;

	for (const struct open_pair *o = groups_first(&p->pairs.all); o; o = groups_next(o))
		if (o->is_open && o->value)
			callstacks_keep((struct callstack *)(uintptr_t)o->value);
}

enum { FUNCTIONS_SHOWN = 30, STACKS_SHOWN = 5, NAME_SIZE = 300 };

/* Whether the kernel is left out because this user may not sample it. */
static bool is_lowered(const struct profile *p)
{
	return p->clock->sampling && p->clock->sampling->user_only;
}

static bool has_no_kernel(const struct profile *p)
{
	return !p->all && analysis_excludes_kernel(p->clock);
}

static void started(struct analysis *a)
{
	struct profile *p = a->config;

	p->has_before = hotspots_read_cputime(&p->opts.common.stream, &p->before);
}

static bool is_faults(const struct stream_event *e)
{
	return e->sampling && e->sampling->attr.attr.type == PERF_TYPE_SOFTWARE && e->sampling->attr.attr.config == PERF_COUNT_SW_PAGE_FAULTS;
}

/* The CPU time or page faults of the run, and the part of it in user space, if the kernel is left out. Not that of one interval. */
static void measure_all(const struct profile *p, struct hotspots_view *view)
{
	const bool whole = p->refreshes || !p->opts.common.stream.interval_ms;
	struct cputime now;

	if (!view->lowered || !whole || !p->has_before || !hotspots_read_cputime(&p->opts.common.stream, &now))
		return;
	if (!p->all && is_faults(p->clock))
		view->faults = now.faults - p->before.faults;
	if (!is_usual(p->clock))
		return;
	view->shown_time = is_clock(p) ? p->hot.weight : now.user - p->before.user;
	view->cpu_time = now.user + now.kernel - p->before.user - p->before.kernel;
	/* the kernel's account is in ticks */
	if (view->cpu_time && view->cpu_time < view->shown_time)
		view->cpu_time = view->shown_time;
}

static bool are_of_kernel(const struct numlist *pids)
{
	size_t n = 0;

	while (n < pids->n && procstatus_is_of_kernel(pids->v[n]))
		n++;
	return n == pids->n;
}

/* A hint for processes that slept all the time; not for other events than the usual ones, which may just not have happened. */
static const char *hint_if_none(const struct analysis *a)
{
	const struct profile *p = a->config;
	const struct stream_opts *o = &p->opts.common.stream;
	const bool all = o->pids.n && !o->cpus.n && !o->exit_n && !o->filter && !o->input && !p->opts.asked &&
			 !levels_any(&p->opts.levels) && !p->off_cpu;

	if (!all || (!p->refreshes && o->interval_ms))
		return NULL;
	if (a->job.is_target)
		return is_lowered(p) ?
		       "no samples in user space: the command slept, ran in the kernel, or ended at once" :
		       "no samples: the command slept nearly all the time (--off-cpu shows what it waits for), or ended at once";
	if (are_of_kernel(&o->pids))
		return is_lowered(p) ?
		       "no samples: kernel threads have none in user space" :
		       "no samples: the kernel thread slept nearly all the time; --off-cpu shows what it waits for";
	return is_lowered(p) ?
	       "no samples in user space: the process slept, or ran in the kernel; `perf-prof dump PID` shows where it is now" :
	       "no samples: the process slept nearly all the time; --off-cpu shows what it waits for, `perf-prof dump PID` shows where it is now";
}

/* sampled: NAME_SIZE bytes, for the view. */
static struct hotspots_view view_of(const struct analysis *a, char *sampled)
{
	const struct profile *p = a->config;

	return (struct hotspots_view){
		.name = a->ops->name, .what = p->off_cpu ? "time on and off CPUs" : p->what,
		.sampled = p->off_cpu || p->all ? NULL : analysis_sampled(p->clock, p->what, sampled, NAME_SIZE),
		.event = p->all ? NULL : p->clock,
		.functions = FUNCTIONS_SHOWN, .stacks = p->clock->layout.callchain ? STACKS_SHOWN : 0,
		.chainless = p->off_cpu && !p->switches.on_stack->layout.callchain ? "sched:sched_switch" : NULL,
		.timed = p->off_cpu, .preempted = p->waited, .idle = p->idle, .skid = p->skid,
		.may_read_python = p->may_read_python, .if_none = hint_if_none(a),
		.without_kernel = has_no_kernel(p), .lowered = is_lowered(p),
		.has_outside = !a->opts->stream.input && !stream_tells_idle(a->stream),
	};
}

static void show(struct analysis *a, uint64_t now)
{
	struct profile *p = a->config;
	char sampled[NAME_SIZE];
	struct hotspots_view view = view_of(a, sampled);

	measure_all(p, &view);
	if (!p->off_cpu && !p->all && (p->refreshes || !p->opts.common.stream.interval_ms))
		hotspots_find_unsampled(a, p->clock, &p->hot, &view);
	a->said_why_empty |= view.if_none != NULL;
	if (p->off_cpu) {
		measure_running(a, p->last);
		sleepers_each(&p->sleepers, slept, a);
		hotspots_spread(&p->hot);
		view.unseen = p->unseen;
		p->unseen = 0;
	}
	hotspots_draw(a, &p->hot, &p->flame, p->refreshes ? 0 : now, p->off_cpu ? NULL : p->what);
	hotspots_print(a, &p->hot, &view, now);
	hotspots_free(&p->hot);
	callstacks_rest(a->stacks, keep_sleepers, p);
	p->idle = p->skid = p->waited = 0;
	p->from = now;
}

static void interval(struct analysis *a, uint64_t now)
{
	struct profile *p = a->config;
	struct hotspots_view view;
	char sampled[NAME_SIZE];

	if (p->refreshes) {
		view = view_of(a, sampled);
		measure_all(p, &view);
		if (!p->off_cpu && !p->all)
			hotspots_find_unsampled(a, p->clock, &p->hot, &view);
		hotspots_refresh(a, &p->hot, view, now);
	} else {
		show(a, now);
	}
}

static int end(struct analysis *a, struct fault *f)
{
	struct profile *p = a->config;
	char text[400], sampled[300];
	const struct flame_title title = { text, p->off_cpu || is_clock(p) ? "ns" : p->what };

	if (p->refreshes)
		terminal_clear();
	show(a, analysis_end(a, p->last));
	if (!p->sampled && p->other)
		return fault_set(f, EXIT_FAILED, "%s: there are no samples of %s, only of other events, such as -e %s",
				 a->ops->name,
				 analysis_counted(p->clock), analysis_counted(p->other));
	if (hotspots_found(a, p->what, f))
		return -1;
	snprintf(text, sizeof(text), "perf-prof %s: %s%s%s", a->ops->name,
		 p->all ? p->what : analysis_sampled(p->clock, p->what, sampled, sizeof(sampled)),
		 has_no_kernel(p) ? ", without the kernel" : "",
		 p->off_cpu ? ", and time off the CPU" : "");
	return analysis_draw(a, &p->flame, &title, f);
}

static bool is_over(struct analysis *a)
{
	return switches_are_over(&((struct profile *)a->config)->switches);
}

static void release(struct analysis *a)
{
	struct profile *p = a->config;

	hotspots_free(&p->hot);
	flame_free(&p->flame);
	pairs_free(&p->pairs);
	pairs_free(&p->preempted);
	sleepers_free(&p->sleepers);
	oncpu_free(&p->oncpu);
	switches_free(&p->switches);
}

static void task(struct analysis *a, const struct pev_record *rec)
{
	switches_task(&((struct profile *)a->config)->switches, rec);
}

static const struct analysis_ops ops = {
	.name = "profile", .events = events, .reads = reads, .begin = begin, .started = started, .sample = sample, .task = task,
	.interval = interval, .is_over = is_over, .end = end, .release = release, .chains_of_users = true,
	.attrs = STREAM_ATTR_STACK,
};

enum { REFRESH_MS = 1000 };

/* A command after -- may use the terminal, too. Time off CPUs is known at the end. */
static bool can_refresh(const struct profile *p, const struct opt_parser *args)
{
	const struct stream_opts *o = &p->opts.common.stream;
	const char *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && kind && strcmp(kind, "dumb") && !o->output.path && !o->input && !o->interval_ms &&
	       !args->noperands && !p->off_cpu && !p->prints_samples && !p->opts.common.json &&
	       !p->opts.common.full;
}

static int wants_python(struct profile *p, const struct opt_parser *args, struct fault *f)
{
	p->python.profile = &p->opts;
	p->python.flame = &p->flame;
	p->python.refreshes = p->refreshes;
	p->python.other = p->off_cpu ? "--off-cpu" : p->prints_samples ? "--samples" :
			  levels_any(&p->opts.levels) ? "--exclude-..." : NULL;
	return pyprofile_is_wanted(&p->python, args, f);
}

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct profile *p = config;
	int python;

	p->opts.asked = p->opts.common.stream.events.n;
	if (hotspots_check(&p->opts.common, "profile", f))
		return -1;
	if (p->opts.asked && p->off_cpu)
		return fault_usage(f, "profile: --off-cpu measures time, and -e %s samples "
				   "something else: leave one of them out", p->opts.common.stream.events.v[0]);
	if (p->prints_samples && p->opts.common.json)
		return fault_usage(f, "profile: --samples prints text, and --json JSON: leave one of them out; `perf-prof "
				   "script --json` prints the samples of a recording");
	if (p->off_cpu && p->opts.common.sort & (SORT_PID | SORT_TID | SORT_CPU | SORT_CGROUP))
		return fault_usage(f, "profile: --off-cpu has no rows by pid, tid, cpu or cgroup: expected --sort comm, symbol, line, dso");
	p->refreshes = can_refresh(p, args);
	if (p->refreshes)
		p->opts.common.stream.interval_ms = REFRESH_MS;
	if (profile_take_rate(&p->opts, "profile", f) || flame_open_before(&p->flame, f))
		return -1;
	python = wants_python(p, args, f);
	if (python == 0 && p->opts.common.without.n)
		return fault_usage(f, "profile: --without %s is about Python functions: expected --python, or -p PID of a Python program",
				   p->opts.common.without.v[0]);
	p->may_read_python = !p->python.python && (args->noperands || p->opts.common.stream.pids.n) && !p->python.other &&
			     !p->opts.common.annotate.n && !p->opts.common.stream.input;
	p->opts.common.merges_python = p->python.python >= 0 && hotspots_merge_python(&p->opts.common);
	return python < 0 ? -1 : python ? pyprofile_run(&p->python, args, f) : analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

#define AT(member) offsetof(struct profile, member)

static const struct opt profile_opts[] = {
	{ "event", 'e', NULL, OPT_STRINGS, AT(opts.common.stream.events), "EVENT",
	  "Sample EVENT instead of the CPU's cycles or clock: a perf event (cache-misses, "
	  "cpu-clock, cpu/event=0x64/u), or with -g any event of `perf-prof list`. For a recording: "
	  "use this one of its events.",
	  false, NULL },
	{ "off-cpu", 0, NULL, OPT_FLAG, AT(off_cpu), NULL,
	  "Also show the time off the CPU, by the stack that slept: from the switch that puts a task to "
	  "sleep to the one that runs it again.", false, NULL },
	{ "samples", 0, NULL, OPT_FLAG, AT(prints_samples), NULL,
	  "Print a line for each sample, too, with -g its call chain.", false, NULL },
	{ "without", 0, NULL, OPT_STRINGS, AT(opts.common.without), "FUNCTION",
	  "With Python functions: leave out samples that have this function in their stack, unless --below cuts it off. May be "
	  "repeated.", false, NULL },
};

const struct command profile_command = {
	.name = "profile",
	.usual = "pids call-graph freq off-cpu python event sort rows annotate flame-graph input record",
	.summary = "show where CPUs spend their time, by function and stack",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = COMMAND_TEXT(
		"Where do the CPUs spend their time? Samples what they execute, 997 times a second, by "
		"cycles or, if the CPU has no such counter, by the CPU clock. Prints the hottest functions, and "
		"with -g the hottest stacks, at the end of the run or, with -i, at each interval. On a terminal, "
		"without a command to run, the functions so far are shown each second.",
		"self% is the share of the samples in the function itself, total% the share in it and in what "
		"it called, which needs -g. Inlined functions count as part of the function that contains them; those with "
		"at least 1 % are listed below it, indented (with --inline-rows, all have rows of their own).",
		"Symbols are read while samples are taken. Names that take longer to read appear in the next "
		"interval or at the end. Reading a file of another user is limited to 5 seconds, or more in long "
		"runs. A function of a stripped file is shown as the file's name and the function's address, \"app+0x1320\", "
		"or as \"[unknown]\" with its offset in the file.",
		"If the process of -p is a Python program (CPython 3.9 to 3.14), its Python functions are shown, with file and line; "
		"for a command with --python. They are read from the interpreter's memory, 199 times a second for each thread "
		"that runs; the program is not stopped, and no event is opened. A sample weighs as much as its thread was on CPUs since "
		"the last one. --no-python shows the interpreter's own functions. -g shows those of a program under python3 -X perf "
		"together with native ones: the interpreter's time counts as theirs, unless --no-python or --full shows its functions.",
		"Samples of idle CPUs are not in the tables; their share is shown above them.",
		"If you are not allowed to sample the kernel (kernel.perf_event_paranoid above 1), your own "
		"tasks are sampled in user space only, and the name of the event ends in :u.",
		"--off-cpu adds where tasks wait, so that one table or picture shows the time on and off the "
		"CPU. Both times are measured from context switches; samples divide the time on the CPU among "
		"functions, and the time of tasks without a sample is in a row \"[not sampled]\". The table then also has "
		"a column of times, and rows \"(blocked)\": a wait is attributed to the user-space function that "
		"waits (in the C library, such as poll); in kernel threads, to the first function that is "
		"not the scheduler's."),
	OPT_GROUP_ROWS(
		{ "Sampling", profile_freq_opts, PROFILE_FREQ_NOPTS, 0 },
		{ "Profile", profile_opts, sizeof(profile_opts) / sizeof(*profile_opts), 0 },
		{ "Python programs", pyprofile_opts, PYPROFILE_NOPTS, AT(python) },
		{ "Privilege levels", levels_opts, LEVELS_NOPTS, offsetof(struct profile_opts, levels) },
		ANALYSIS_RUN_GROUPS, ANALYSIS_CHAIN_GROUP,
		{ "Table rows", hotspots_opts, HOTSPOTS_NOPTS, 0 },
		{ "Pictures", flame_opts, FLAME_OPTS, AT(flame) },
		ANALYSIS_OUTPUT_GROUPS),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof profile -g -- ./program", "show the hottest functions and stacks of a command" },
		{ "perf-prof profile --tree -- ./program", "also show the call tree of a command" },
		{ "perf-prof profile --annotate lookup -- ./program", "also show the source lines of a function, with their shares" },
		{ "perf-prof profile -i 1000", "show the hottest functions of the machine, each second" },
		{ "perf-prof profile -p 1234 -g --flame-graph flame.svg", "draw a flame graph of a process, until Ctrl-C" },
		{ "perf-prof profile --python --flame-graph flame.svg -- python3 job.py", "draw the Python functions of a command" },
		{ "perf-prof profile --tasks --flame-graph tasks.svg -p 1234", "draw which asyncio task of a Python program uses the CPU" },
		{ "perf-prof profile -e cache-misses -c 10000 -g -- ./program",
		  "show which functions of a command miss the cache" },
		{ "perf-prof profile --off-cpu -p 1234 --flame-graph waits.svg", "draw where a process runs, and where it waits" }),
	.mode = OPT_MODE_COMMAND,
	ANALYSIS_CONFIG(struct profile, analysis_defaults),
	.run = run,
};
