/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/switches.h"

#include "base/pidns.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct watched {
	pid_t tid;
	bool process;            /* of a recording: all of its threads are meant */
	UT_hash_handle hh;
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

/* ---- whom to watch -------------------------------------------------------------------- */

static struct watched *find_watched(const struct switches *w, pid_t tid)
{
	struct watched *found;

	HASH_FIND(hh, w->watched, &tid, sizeof(tid), found);
	return found;
}

static bool watches(const struct switches *w, pid_t tid)
{
	return w->everybody ? tid > 0 : find_watched(w, tid) != NULL;
}

enum { MAX_WATCHED = 1 << 20 };   /* a recording says what it likes */

static int watch(struct switches *w, pid_t tid)
{
	struct watched *one;

	if (watches(w, tid))
		return 0;
	if (w->recorded && HASH_COUNT(w->watched) >= MAX_WATCHED)
		return -1;
	one = calloc(1, sizeof(*one));
	if (!one)
		return -1;
	one->tid = tid;
	HASH_ADD(hh, w->watched, tid, sizeof(one->tid), one);
	if (!HASH_LOST(one))
		return 0;
	free(one);
	return -1;
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
		return fault_usage(f, "-p %d: there is no such process (%s)", (int)pid, strerror(errno));
	while (!rc && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			rc = watch(w, atoi(d->d_name));
	closedir(dir);
	return rc ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}

/* The run is over when those who were named are. */
static int watch_end(struct switches *w, pid_t pid)
{
	int *ends = realloc(w->ends, (w->nends + 1) * sizeof(*ends));
	int fd = ends ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	if (ends)
		w->ends = ends;
	if (fd >= 0)
		w->ends[w->nends++] = fd;
	return ends ? 0 : -1;
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

void switches_task(struct switches *w, const struct pev_record *rec)
{
	const struct pev_task *t = &rec->task;
	/* who was there before is told without a time, or with all ones */
	bool before = !rec->sample_id.time || rec->sample_id.time == UINT64_MAX;

	if (!w->recorded || w->everybody || (!before && !w->follow))
		return;
	if (rec->type == PERF_RECORD_COMM && watches_process(w, rec->comm.pid))
		watch(w, (pid_t)rec->comm.tid);
	else if (rec->type == PERF_RECORD_FORK && t->pid == t->ppid && watches_process(w, t->pid))
		watch(w, (pid_t)t->tid);
	else if (rec->type == PERF_RECORD_FORK && !before && watches_process(w, t->ppid))
		watch_recorded(w, (pid_t)t->pid);
	else if (rec->type == PERF_RECORD_FORK && !before && watches(w, (pid_t)t->ptid))
		watch(w, (pid_t)t->tid);
}

int switches_choose(struct switches *w, const struct stream_opts *o, struct fault *f)
{
	w->everybody = !o->pids.n && !o->tids.n;
	w->follow = o->inherit >= 0;
	w->recorded = o->input;
	/* who is there now says nothing of who was there then */
	for (size_t i = 0; i < o->pids.n && o->input; i++)
		if (watch_recorded(w, o->pids.v[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < o->pids.n && !o->input; i++) {
		if (watch_process(w, o->pids.v[i], f))
			return -1;
		if (watch_end(w, o->pids.v[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	}
	for (size_t i = 0; i < o->tids.n; i++)
		if (watch(w, o->tids.v[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	return 0;
}

static int take_targets(struct switches *w, struct stream_opts *o, struct fault *f)
{
	if (switches_choose(w, o, f))
		return -1;
	numlist_free(&o->pids);
	numlist_free(&o->tids);
	o->pids = o->tids = (struct numlist){ 0 };
	return 0;
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
	HASH_FREE(w->watched);
	for (size_t i = 0; i < w->nends; i++)
		close(w->ends[i]);
	free(w->ends);
}

/* ---- events --------------------------------------------------------------------------- */

/* 200,000 switches a second fill 1 MiB within 25 ms: on a machine whose CPUs are all taken, it
 * is longer than that until a reader runs. */
enum { RING = 4 << 20 };

int switches_events(struct switches *w, struct analysis *a, struct fault *f)
{
	a->opts->stream.order = true;   /* who wakes is elsewhere than who runs */
	a->opts->stream.ring.usual = RING;
	if (take_targets(w, &a->opts->stream, f))
		return -1;
	if (!w->everybody && analysis_add_event(a, f, "sched:sched_process_fork,sched:sched_process_exit"))
		return -1;
	/* its samples pair ids of the new ones */
	if (w->everybody && !pidns_is_initial() && analysis_add_event(a, f, "sched:sched_process_fork"))
		return -1;
	return analysis_add_event(a, f, w->measures ? "sched:sched_switch,sched:sched_stat_runtime//stack=no/" :
				  "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new");
}

static int find(struct analysis *a, const char *name, const struct stream_event **event, struct fault *f)
{
	*event = analysis_event(a, "sched", name);
	return *event ? 0 : analysis_lacks(a, "sched", name, f);
}

/* `perf sched record` has sched_waking instead: the same from a moment earlier on, and of fewer. */
const char *switches_wakeup(bool has_wakeup, bool has_waking)
{
	return has_waking && !has_wakeup ? "sched_waking" : "sched_wakeup";
}

static int find_wakeups(struct switches *w, struct analysis *a, struct fault *f)
{
	const char *name = switches_wakeup(analysis_event(a, "sched", "sched_wakeup"),
					   analysis_event(a, "sched", "sched_waking"));

	return find(a, "sched_wakeup_new", &w->on_wakeup_new, f) || find(a, name, &w->on_wakeup, f) ? -1 : 0;
}

int switches_read_fields(struct switches *w, struct fault *f)
{
	w->prev_pid = analysis_field(w->on_switch, "prev_pid", false, f);
	w->prev_state = w->prev_pid ? analysis_field(w->on_switch, "prev_state", false, f) : NULL;
	w->next_pid = w->prev_state ? analysis_field(w->on_switch, "next_pid", false, f) : NULL;
	w->prev_comm = w->next_pid ? analysis_field(w->on_switch, "prev_comm", true, f) : NULL;
	w->next_comm = w->prev_comm ? analysis_field(w->on_switch, "next_comm", true, f) : NULL;
	if (!w->next_comm)
		return -1;
	for (size_t i = 0; i < 2 && !w->measures; i++) {
		const struct stream_event *woken = i ? w->on_wakeup_new : w->on_wakeup;

		w->woken[i] = analysis_field(woken, "pid", false, f);
		w->woken_comm[i] = w->woken[i] ? analysis_field(woken, "comm", true, f) : NULL;
		if (!w->woken_comm[i])
			return -1;
	}
	w->runs = w->on_runtime ? analysis_field(w->on_runtime, "pid", false, f) : NULL;
	w->runtime = w->runs ? analysis_field(w->on_runtime, "runtime", false, f) : NULL;
	if (w->on_runtime && !w->runtime)
		return -1;
	w->gone = w->on_exit ? analysis_field(w->on_exit, "pid", false, f) : NULL;
	if (w->on_exit && !w->gone)
		return -1;
	if (!w->on_fork)
		return 0;
	w->parent = analysis_field(w->on_fork, "parent_pid", false, f);
	w->child = w->parent ? analysis_field(w->on_fork, "child_pid", false, f) : NULL;
	return w->child ? 0 : -1;
}

int switches_begin(struct switches *w, struct analysis *a, struct fault *f)
{
	w->ctx = a;
	w->comms = a->names.comms;
	w->on_fork = analysis_event(a, "sched", "sched_process_fork");
	w->on_exit = analysis_event(a, "sched", "sched_process_exit");
	w->on_runtime = w->measures ? analysis_event(a, "sched", "sched_stat_runtime") : NULL;
	if (find(a, "sched_switch", &w->on_switch, f))
		return -1;
	if (!w->measures && find_wakeups(w, a, f))
		return -1;
	return switches_read_fields(w, f);
}

/* A task that a field names. */
static pid_t task_in(const struct analysis_sample *s, const struct trace_field *field)
{
	return stream_task(s->event, (pid_t)trace_field_sint(field, s->view.raw));
}

/* /proc doesn't show whom only the kernel's own id tells. */
static void name_outer(struct switches *w, const struct analysis_sample *s, pid_t tid, const struct trace_field *comm)
{
	const char *text;
	uint32_t len;

	if (__builtin_expect(tid > 0 && tid & PIDMAP_OUTER && w->comms, 0) &&
	    !trace_field_data(comm, s->view.raw, s->view.raw_size, &text, &len))
		comms_set(w->comms, tid, text, len);
}

/* ---- states --------------------------------------------------------------------------- */

enum { LEAVES = 0x10 | 0x20 };   /* X, Z: it won't come back */

/* Beside the state that a pair holds: no wake-up began it, the task could have run on. */
enum { PREEMPTED = 1 << 8 };

static enum task_state state_in(const struct open_pair *o)
{
	return (enum task_state)(o->value & ~(uint64_t)PREEMPTED);
}

/* include/linux/sched.h, TASK_REPORT since Linux 4.14: what sched_switch tells. */
static enum task_state state_of(uint64_t prev_state)
{
	static const struct {
		uint64_t bit;
		enum task_state state;
	} bits[] = {
		{ 0x01, STATE_SLEEPING }, { 0x02, STATE_BLOCKED }, { 0x04, STATE_STOPPED },
		{ 0x08, STATE_TRACED }, { 0x40, STATE_PARKED }, { 0x80, STATE_IDLE },
	};

	if (!(prev_state & 0xff))
		return STATE_RUNNABLE;
	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		if (prev_state & bits[i].bit)
			return bits[i].state;
	return STATE_OTHER;
}

/* Who goes off a CPU ran until now, who gets one did not; else the kernel has left out a switch
 * (it may, where a task is inside of perf itself), and of that stretch nothing is known. */
static struct open_pair *check(struct pairs *p, struct open_pair *o, bool ran)
{
	if (!o || (state_in(o) == STATE_RUNNING) == ran)
		return o;
	if (ran)
		p->unbegun++;
	else
		p->restarted++;
	pairs_cancel(p, o);
	return NULL;
}

static void tell_end(struct switches *w, const struct analysis_sample *s, pid_t tid, struct pair_end *end,
		     switches_fn *ended)
{
	w->preempted = end->value & PREEMPTED;
	end->value &= ~(uint64_t)PREEMPTED;
	ended(w->ctx, s, tid, end);
}

/* o: the task's present state; NULL: it is not known. */
static void leave(struct switches *w, struct pairs *p, struct open_pair *o,
		  const struct analysis_sample *s, pid_t tid, switches_fn *ended)
{
	struct pair_end end;

	if (!o)
		return;
	pairs_close(p, o, s, &end);
	tell_end(w, s, tid, &end, ended);
}

static void change(struct switches *w, struct pairs *p, struct open_pair *o,
		   const struct analysis_sample *s, pid_t tid, uint64_t to, switches_fn *ended)
{
	struct pair_end end;

	if (!o) {
		pairs_start(p, s, (uint64_t)tid, to);
		return;
	}
	pairs_turn(o, s, to, &end);
	tell_end(w, s, tid, &end, ended);
}

static void take_switch(struct switches *w, struct pairs *p, const struct analysis_sample *s,
			switches_fn *ended)
{
	uint64_t state = (uint64_t)trace_field_sint(w->prev_state, s->view.raw);
	pid_t prev = task_in(s, w->prev_pid), next = task_in(s, w->next_pid);

	name_outer(w, s, prev, w->prev_comm);
	name_outer(w, s, next, w->next_comm);
	if (watches(w, prev)) {
		struct open_pair *o = check(p, pairs_find(p, (uint64_t)prev), true);

		if (state & LEAVES)
			leave(w, p, o, s, prev, ended);
		else
			change(w, p, o, s, prev,
			       state_of(state) == STATE_RUNNABLE ? (uint64_t)STATE_RUNNABLE | PREEMPTED
								 : (uint64_t)state_of(state), ended);
	}
	if (watches(w, next))
		change(w, p, check(p, pairs_find(p, (uint64_t)next), false), s, next, STATE_RUNNING, ended);
	if (state & LEAVES)
		stream_task_ended(s->event, (pid_t)trace_field_sint(w->prev_pid, s->view.raw));
}

/* One who runs, or waits to, is not woken by it. */
static void take_wakeup(struct switches *w, struct pairs *p, const struct analysis_sample *s, bool new,
			switches_fn *ended)
{
	pid_t tid = task_in(s, w->woken[new]);
	struct open_pair *o;

	name_outer(w, s, tid, w->woken_comm[new]);
	if (!watches(w, tid))
		return;
	o = pairs_find(p, (uint64_t)tid);
	if (!o || (state_in(o) != STATE_RUNNING && state_in(o) != STATE_RUNNABLE))
		change(w, p, o, s, tid, STATE_RUNNABLE, ended);
}

/* Its last switch may come after the end of the last one watched, which ends the run. */
static void take_exit(struct switches *w, struct pairs *p, const struct analysis_sample *s,
		      switches_fn *ended)
{
	pid_t tid = task_in(s, w->gone);

	if (watches(w, tid))
		leave(w, p, check(p, pairs_find(p, (uint64_t)tid), true), s, tid, ended);
}

static void take_fork(struct switches *w, const struct analysis_sample *s)
{
	if (w->follow && watches(w, task_in(s, w->parent)))
		watch(w, task_in(s, w->child));
}

bool switches_watch(const struct switches *w, pid_t tid)
{
	return watches(w, tid);
}

void switches_each(const struct switches *w, void (*fn)(void *ctx, pid_t tid), void *ctx)
{
	for (const struct watched *one = w->watched; one; one = one->hh.next)
		fn(ctx, one->tid);
}

bool switches_read(struct switches *w, const struct analysis_sample *s, struct switch_event *e)
{
	uint64_t state;

	if (s->event == w->on_fork)
		take_fork(w, s);
	if (s->event != w->on_switch)
		return false;
	state = (uint64_t)trace_field_sint(w->prev_state, s->view.raw);
	*e = (struct switch_event){ task_in(s, w->prev_pid), task_in(s, w->next_pid),
				    state & 0xff && !(state & LEAVES) };
	name_outer(w, s, e->prev, w->prev_comm);
	name_outer(w, s, e->next, w->next_comm);
	if (state & LEAVES)
		stream_task_ended(s->event, (pid_t)trace_field_sint(w->prev_pid, s->view.raw));
	return true;
}

uint64_t switches_runtime(const struct switches *w, const struct analysis_sample *s, pid_t *tid)
{
	*tid = task_in(s, w->runs);
	return trace_field_uint(w->runtime, s->view.raw);
}

void switches_take(struct switches *w, struct pairs *p, const struct analysis_sample *s,
		   switches_fn *ended)
{
	pairs_see(p, s);
	if (s->event == w->on_switch)
		take_switch(w, p, s, ended);
	else if (s->event == w->on_wakeup || s->event == w->on_wakeup_new)
		take_wakeup(w, p, s, s->event == w->on_wakeup_new, ended);
	else if (s->event == w->on_fork)
		take_fork(w, s);
	else if (s->event == w->on_exit)
		take_exit(w, p, s, ended);
}

bool switches_concern(const struct switches *w, const struct analysis_sample *s, pid_t tid,
		      uint32_t cpu)
{
	if (s->event == w->on_switch)
		return s->cpu == cpu || task_in(s, w->prev_pid) == tid || task_in(s, w->next_pid) == tid;
	if (s->event == w->on_wakeup || s->event == w->on_wakeup_new)
		return task_in(s, w->woken[s->event == w->on_wakeup_new]) == tid;
	if (s->event == w->on_exit)
		return task_in(s, w->gone) == tid;
	return !w->recorded && s->event != w->on_fork;
}
