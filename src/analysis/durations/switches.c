/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/switches.h"

#include "base/pidns.h"
#include "base/room.h"
#include "base/units.h"
#include "stream/watched/targets.h"
#include "tasks/threads.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct watched {
	pid_t tid;
	bool process;            /* in a recording: tid is a process, and all its threads are watched */
	bool known, had_event;   /* in a recording: it has a record of the task, and an event */
	bool is_new;             /* in a recording: it began during that */
	bool outside;            /* of the control groups, as /proc said at that time: */
	uint64_t asked;
};

static const struct {
	const char *letter, *words;
} states[TASK_STATES] = {
	[STATE_RUNNING] = { "R", "running" },
	[STATE_RUNNABLE] = { "RD", "waiting to run" },
	[STATE_SLEEPING] = { "S", "asleep" },
	[STATE_BLOCKED] = { "D", "asleep uninterruptibly" },
	[STATE_STOPPED] = { "T", "stopped" },
	[STATE_TRACED] = { "t", "stopped by its tracer" },
	[STATE_IDLE] = { "I", "idle" },
	[STATE_PARKED] = { "P", "parked" },
	[STATE_OTHER] = { "?", "in another state" },
};

const char *task_state_letter(enum task_state state)
{
	return states[state].letter;
}

const char *task_state_words(enum task_state state)
{
	return states[state].words;
}

bool task_state_sleeps(char letter, enum task_state *state)
{
	for (*state = STATE_SLEEPING; *state < STATE_OTHER; ++*state)
		if (*states[*state].letter == letter)
			return true;
	return false;
}

/* ---- targets -------------------------------------------------------------------------- */

static struct watched *find_watched(const struct switches *w, pid_t tid)
{
	return groups_find(&w->watched, &tid, sizeof(tid));
}

enum { OWN_SLOTS = 4096 };

/* Samples are delivered a moment after the thread may have ended: the first answer stays, until another task needs its slot. */
static bool is_own(const struct switches *w, pid_t tid)
{
	pid_t *slot = w->own ? &w->own[tid % OWN_SLOTS] : NULL;

	if (slot && *slot != tid && *slot != -tid)
		*slot = stream_is_own(w->a->stream, tid) ? tid : -tid;
	return slot && *slot == tid;
}

bool switches_watch(const struct switches *w, pid_t tid)
{
	const struct watched *found = w->everybody ? NULL : find_watched(w, tid);

	return w->everybody ? tid > 0 && !is_own(w, tid) : found && !found->outside;
}

enum { MAX_WATCHED = 1 << 20 };   /* a damaged recording can have any number */

static int watch(struct switches *w, pid_t tid)
{
	struct watched *one;

	one = w->everybody ? NULL : find_watched(w, tid);
	if (one)
		one->outside = false;
	if (one || switches_watch(w, tid))
		return 0;
	return groups_get(&w->watched, &tid, sizeof(tid), sizeof(*one), w->recorded ? MAX_WATCHED : UINT32_MAX) ? 0 : -1;
}

static int watch_process(struct switches *w, pid_t pid, struct fault *f)
{
	char path[64];
	struct dirent *d;
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return targets_no_process(pid, errno, f);
	while (!rc && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			rc = watch(w, atoi(d->d_name));
	closedir(dir);
	return rc ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}

/* The run ends when all processes of -p have ended. */
static int watch_end(struct switches *w, pid_t pid)
{
	bool room = ROOM_FOR_ONE(w->ends, w->nends);
	int fd = room ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	if (fd >= 0)
		w->ends[w->nends++] = fd;
	return room ? 0 : -1;
}

static bool watches_process(const struct switches *w, uint32_t pid)
{
	const struct watched *found = find_watched(w, (pid_t)pid);

	return found && found->process;
}

static int watch_recorded(struct switches *w, pid_t pid)
{
	if (watch(w, pid))
		return -1;
	find_watched(w, pid)->process = true;
	return 0;
}

static void watch_known(struct switches *w, uint32_t tid)
{
	if (!watch(w, (pid_t)tid))
		find_watched(w, (pid_t)tid)->known = true;
}

static void note_new(struct switches *w, pid_t tid)
{
	struct watched *one = w->recorded && !w->everybody ? find_watched(w, tid) : NULL;

	if (one)
		one->is_new = true;
}

void switches_task(struct switches *w, const struct pev_record *rec)
{
	const struct pev_task *t = &rec->task;
	/* records about tasks that existed before the recording have time 0 or all ones */
	bool before = !rec->sample_id.time || rec->sample_id.time == UINT64_MAX;

	if (!w->recorded || w->everybody || (!before && !w->follow))
		return;
	if (rec->type == PERF_RECORD_COMM && watches_process(w, rec->comm.pid))
		watch_known(w, rec->comm.tid);
	else if (rec->type == PERF_RECORD_FORK && t->pid == t->ppid && watches_process(w, t->pid))
		watch_known(w, t->tid);
	else if (rec->type == PERF_RECORD_FORK && !before && watches_process(w, t->ppid))
		watch_recorded(w, (pid_t)t->pid);
	else if (rec->type == PERF_RECORD_FORK && !before && switches_watch(w, (pid_t)t->ptid))
		watch_known(w, t->tid);
	if (rec->type == PERF_RECORD_FORK && !before)
		note_new(w, (pid_t)t->tid);
}

void switches_had_event(struct switches *w, pid_t tid)
{
	struct watched *found = w->recorded && !w->everybody ? find_watched(w, tid) : NULL;

	if (found)
		found->had_event = true;
}

bool switches_slept_before(const struct switches *w, pid_t tid)
{
	const struct watched *found = w->recorded && !w->everybody ? find_watched(w, tid) : NULL;

	return found && !found->had_event && !found->is_new;
}

size_t switches_without_event(const struct switches *w, bool *none)
{
	size_t n = 0;

	*none = w->recorded && !w->everybody;
	for (const struct watched *one = groups_first(&w->watched); one; one = groups_next(one)) {
		n += one->known && !one->had_event;
		*none &= !one->known && !one->had_event;
	}
	return n;
}

int switches_choose(struct switches *w, const struct stream_opts *o, struct fault *f)
{
	w->everybody = !o->pids.n && !o->tids.n;
	w->follow = o->inherit >= 0;
	w->recorded = o->input;
	/* /proc has today's threads, not the recording's */
	for (size_t i = 0; i < o->pids.n; i++) {
		if (!o->input && watch_process(w, o->pids.v[i], f))
			return -1;
		if (o->input ? watch_recorded(w, o->pids.v[i]) : watch_end(w, o->pids.v[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	}
	for (size_t i = 0; i < o->tids.n; i++) {
		if (!o->input && targets_check_thread(o->tids.v[i], f))
			return -1;
		if (watch(w, o->tids.v[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	}
	return 0;
}

/* ---- control groups -------------------------------------------------------------------- */

enum { ASK_AGAIN_NS = 1000000000, MAX_OUTSIDE = 1 << 16 };

/* /proc can be asked again. */
static void forget_outside(struct switches *w)
{
	for (struct watched *one = groups_first(&w->watched); one; one = groups_next(one))
		if (one->outside)
			groups_drop(&w->watched, one);
	w->noutside = 0;
}

/* A task enters a container as another one, so those that are outside are asked about again. */
static void meet(struct switches *w, pid_t tid, uint64_t time)
{
	struct watched *one = tid > 0 ? find_watched(w, tid) : NULL;

	if (tid <= 0 || (one && (!one->outside || time < one->asked + ASK_AGAIN_NS)))
		return;
	if (w->noutside >= MAX_OUTSIDE)
		forget_outside(w);
	if (watch(w, tid))
		return;
	one = find_watched(w, tid);
	one->outside = !cgroups_have(&w->groups, tid);
	one->asked = time;
	w->noutside += one->outside;
}

/* The id is a new task's now. */
static void forget(struct switches *w, pid_t tid)
{
	struct watched *one = find_watched(w, tid);

	if (one)
		groups_drop(&w->watched, one);
}

struct members {
	struct switches *w;
	struct stream_opts *opts;
};

static void take_member(void *ctx, pid_t tid)
{
	const struct members *m = ctx;

	meet(m->w, tid, 0);
	if (switches_watch(m->w, tid))
		numlist_add(&m->opts->meant, tid);
}

/* Groups are taken from the stream, whose events are opened for all tasks. */
static int take_groups(struct switches *w, struct stream_opts *o, struct fault *f)
{
	w->everybody = false;
	for (size_t i = 0; i < o->cgroups.n; i++) {
		int fd = targets_open_cgroup(o->cgroups.v[i], w->groups.mount, sizeof(w->groups.mount), f);
		int rc = fd < 0 ? 0 : cgroups_add(&w->groups, fd);

		if (fd < 0)
			return -1;
		close(fd);
		if (rc)
			return fault_set(f, EXIT_FAILED, "%s: %s", stream_cgroup_label(o, i), strerror(-rc));
	}
	o->cgroups.n = 0;
	threads_each(take_member, &(struct members){ w, o });
	return 0;
}

/* At 200,000 switches a second, 1 MiB is full after 25 ms. If all CPUs are busy, it takes longer
 * until perf-prof runs. */
enum { RING = 4 << 20 };

static int choose(struct switches *w, struct analysis *a, struct fault *f)
{
	struct stream_opts *o = &a->opts->stream;

	w->a = a;
	o->order = true;   /* wake-ups are often in another CPU's ring than the task's switches */
	o->ring.usual = RING;
	if (switches_choose(w, o, f) || (o->cgroups.n && !o->input && take_groups(w, o, f)))
		return -1;
	w->own = w->everybody && !w->recorded ? calloc(OWN_SLOTS, sizeof(*w->own)) : NULL;
	return 0;
}

static int take_tasks(struct stream_opts *o, struct fault *f)
{
	for (size_t i = 0; i < o->pids.n + o->tids.n; i++)
		if (numlist_add(&o->meant, i < o->pids.n ? o->pids.v[i] : o->tids.v[i - o->pids.n]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	numlist_free(&o->pids);
	numlist_free(&o->tids);
	o->pids = o->tids = (struct numlist){ 0 };
	return 0;
}

int switches_take_targets(struct switches *w, struct analysis *a, struct fault *f)
{
	return choose(w, a, f) ? -1 : take_tasks(&a->opts->stream, f);
}

bool switches_are_over(struct switches *w)
{
	for (size_t i = 0; i < w->nends; i++) {
		struct pollfd p = { .fd = w->ends[i], .events = POLLIN };

		if (poll(&p, 1, 0) != 1)
			return false;
	}
	return w->nends;
}

void switches_free(struct switches *w)
{
	groups_free(&w->watched);
	cgroups_free(&w->groups);
	for (size_t i = 0; i < w->nends; i++)
		close(w->ends[i]);
	free(w->ends);
	free(w->own);
}

/* ---- events --------------------------------------------------------------------------- */

/* Events of a task need a descriptor for each CPU. */
enum { FEW_TASKS = 64 };

static bool are_few(const struct switches *w, const struct stream_opts *o)
{
	return !o->input && (o->pids.n || o->tids.n) && !w->groups.n && pidns_is_initial() &&
	       w->watched.n <= FEW_TASKS;
}

int switches_events(struct switches *w, struct analysis *a, struct fault *f)
{
	struct stream_opts *o = &a->opts->stream;

	if (choose(w, a, f))
		return -1;
	w->few = are_few(w, o);
	if (!w->few && take_tasks(o, f))
		return -1;
	/* in a PID namespace, forks map the ids of new tasks */
	if ((!w->everybody || !pidns_is_initial()) &&
	    analysis_add_event(a, f, "sched:sched_process_fork%s", w->everybody ? "" : ",sched:sched_process_exit"))
		return -1;
	return analysis_add_event(a, f, "sched:sched_switch%s,sched:sched_stat_runtime//stack=no/",
				  w->few ? "//stack=no/,sched:sched_switch//alias=sched_switch_of_targets/" : "");
}

int switches_read_fields(struct switches *w, struct fault *f)
{
	w->prev_pid = w->on_switch ? analysis_field(w->on_switch, "prev_pid", false, f) : NULL;
	w->prev_state = w->prev_pid ? analysis_field(w->on_switch, "prev_state", false, f) : NULL;
	w->next_pid = w->prev_state ? analysis_field(w->on_switch, "next_pid", false, f) : NULL;
	w->prev_comm = w->next_pid ? analysis_field(w->on_switch, "prev_comm", true, f) : NULL;
	w->next_comm = w->prev_comm ? analysis_field(w->on_switch, "next_comm", true, f) : NULL;
	if (w->on_switch && !w->next_comm)
		return -1;
	w->runs = w->on_runtime ? analysis_field(w->on_runtime, "pid", false, f) : NULL;
	w->runtime = w->runs ? analysis_field(w->on_runtime, "runtime", false, f) : NULL;
	if (w->on_runtime && !w->runtime)
		return -1;
	if (!w->on_fork)
		return 0;
	w->parent = analysis_field(w->on_fork, "parent_pid", false, f);
	w->child = w->parent ? analysis_field(w->on_fork, "child_pid", false, f) : NULL;
	return w->child ? 0 : -1;
}

/* If there are two events, the one of all tasks has no call chains. */
static void find_switches(struct switches *w, struct analysis *a)
{
	size_t n;
	struct stream_event *all = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++) {
		if (!switches_is_switch(&all[i]))
			continue;
		if (!w->on_switch || w->on_switch->layout.callchain)
			w->on_switch = &all[i];
		if (!w->on_stack || !w->on_stack->layout.callchain)
			w->on_stack = &all[i];
	}
	for (size_t i = 0; w->few && i < n; i++)
		all[i].asked.everywhere = all[i].fmt && &all[i] != w->on_stack;
}

int switches_begin(struct switches *w, struct analysis *a, struct fault *f)
{
	w->on_fork = analysis_event(a, "sched", "sched_process_fork");
	w->on_runtime = analysis_event(a, "sched", "sched_stat_runtime");
	find_switches(w, a);
	if (!w->on_switch)
		return analysis_lacks(a, "sched", "sched_switch", f);
	return analysis_has_everybody(a->stream, a->ops->name, w->on_switch, f) ? -1 : switches_read_fields(w, f);
}

bool switches_is_switch(const struct stream_event *event)
{
	return event->fmt && !strcmp(event->sys, "sched") && !strcmp(event->tracepoint, "sched_switch");
}

pid_t switches_task_in(const struct analysis_sample *s, const struct trace_field *field)
{
	return stream_task(s->event, (pid_t)trace_field_sint(field, s->view.raw));
}

void switches_meet(struct switches *w, const struct analysis_sample *s, pid_t tid)
{
	if (w->groups.n)
		meet(w, tid, s->time);
}

/* ---- samples -------------------------------------------------------------------------- */

void switches_take_fork(struct switches *w, const struct analysis_sample *s)
{
	const pid_t child = switches_task_in(s, w->child);

	if (w->follow && switches_watch(w, switches_task_in(s, w->parent)))
		watch(w, child);
	else if (w->groups.n)
		forget(w, child);
	note_new(w, child);
}

void switches_each(const struct switches *w, void (*fn)(void *ctx, pid_t tid), void *ctx)
{
	for (const struct watched *one = groups_first(&w->watched); one; one = groups_next(one))
		if (!one->outside)
			fn(ctx, one->tid);
}

bool switches_read(struct switches *w, const struct analysis_sample *s, struct switch_event *e)
{
	uint64_t state;

	if (s->event == w->on_fork)
		switches_take_fork(w, s);
	if (s->event != w->on_switch && s->event != w->on_stack)
		return false;
	state = (uint64_t)trace_field_sint(w->prev_state, s->view.raw);
	*e = (struct switch_event){ switches_task_in(s, w->prev_pid), switches_task_in(s, w->next_pid),
				    state & 0xff && !(state & SWITCH_LEAVES), !(state & 0xff) };
	switches_meet(w, s, e->prev);
	switches_meet(w, s, e->next);
	if (state & SWITCH_LEAVES && s->event == w->on_switch)
		stream_task_ended(s->event, (pid_t)trace_field_sint(w->prev_pid, s->view.raw));
	return true;
}

uint64_t switches_runtime(const struct switches *w, const struct analysis_sample *s, pid_t *tid)
{
	*tid = switches_task_in(s, w->runs);
	return trace_field_uint(w->runtime, s->view.raw);
}

void switches_print_eventless(const struct switches *w)
{
	bool none;
	const size_t n = switches_without_event(w, &none);

	if (n)
		printf("%zu thread%s no event in the recording, and may have waited throughout: `perf-prof dump PID` shows what a running "
		       "process waits for\n", n, n == 1 ? " has" : "s have");
}
