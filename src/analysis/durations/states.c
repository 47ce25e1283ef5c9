/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/states.h"

#include "base/pidns.h"
#include "expr/expr.h"

#include <string.h>

/* ---- events ----------------------------------------------------------------------------- */

static int choose(struct states *st, struct fault *f)
{
	struct question *q = &st->question;

	return q->maker ? switches_choose(&st->switches, q->targets, f) : switches_take_targets(&st->switches, q->a, f);
}

/* A command's events are known once it has a stream. */
static bool has(struct question *q, const char *name)
{
	return q->maker ? source_has(q->maker, "sched", name) : q->a->stream && analysis_event(q->a, "sched", name);
}

/* The event for wake-ups. Recordings of `perf sched record` have sched_waking instead, a moment earlier. */
static const char *wakeup_name(struct question *q)
{
	return !has(q, "sched_wakeup") && has(q, "sched_waking") ? "sched_waking" : "sched_wakeup";
}

int states_targets(struct question *q, struct fault *f)
{
	const struct switches *w = &((struct states *)q)->switches;

	if (choose((struct states *)q, f))
		return -1;
	/* forks add children of the targets, and in a PID namespace map the ids of new tasks */
	return (w->everybody && pidns_is_initial()) || (q->maker && w->recorded) ? 0 :
	       question_watch(q, "sched", "sched_process_fork", false, f);
}

/* A command needs exits of its targets for their last state; a source does not. */
int states_events(struct question *q, struct fault *f)
{
	const struct switches *w = &((struct states *)q)->switches;

	if (states_targets(q, f) ||
	    (!w->everybody && !q->maker && question_watch(q, "sched", "sched_process_exit", false, f)))
		return -1;
	return question_watch(q, "sched", "sched_switch", true, f) || question_watch(q, "sched", wakeup_name(q), true, f) ||
	       question_watch(q, "sched", "sched_wakeup_new", true, f) ? -1 : 0;
}

static bool is_named(const char *item, size_t len)
{
	static const char *const own[] = { "sched:sched_switch", "sched:sched_wakeup", "sched:sched_wakeup_new", "sched:sched_waking" };

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (expr_glob(item, len, own[i], strlen(own[i])))
			return true;
	return !len;
}

int states_asked(struct question *q, struct fault *f)
{
	struct stream_opts *o = &q->common.stream;

	for (size_t i = 0; i < o->events.n; i++)
		for (const char *item = o->events.v[i]; *item; item += strcspn(item, ",") + (item[strcspn(item, ",")] != '\0'))
			if (!is_named(item, strcspn(item, ",")))
				return fault_usage(f, "%s: -e %s: expected sched:sched_switch and sched:sched_wakeup*, which are traced "
						   "in any case; leave -e out", q->ops->name, o->events.v[i]);
	o->events.n = 0;
	o->events_by_command = true;
	if (q->ops->watch(q, f))
		return -1;
	o->events.n = o->input ? 0 : o->events.n;   /* all events of the recording */
	return 0;
}

static int find_wakeups(struct states *st, struct fault *f)
{
	struct question *q = &st->question;

	if (question_need(q, "sched", "sched_wakeup_new", &st->on_wakeup_new, f) ||
	    question_need(q, "sched", wakeup_name(q), &st->on_wakeup, f))
		return -1;
	for (size_t i = 0; i < 2; i++) {
		const struct stream_event *woken = i ? st->on_wakeup_new : st->on_wakeup;

		st->woken[i] = analysis_field(woken, "pid", false, f);
		st->woken_comm[i] = st->woken[i] ? analysis_field(woken, "comm", true, f) : NULL;
		if (!st->woken_comm[i])
			return -1;
	}
	return 0;
}

int states_find_fork(struct question *q, struct fault *f)
{
	struct switches *w = &((struct states *)q)->switches;

	w->on_fork = question_event(q, "sched", "sched_process_fork");
	return switches_read_fields(w, f);
}

int states_begin(struct question *q, struct fault *f)
{
	struct states *st = (struct states *)q;
	struct switches *w = &st->switches;

	st->on_exit = question_event(q, "sched", "sched_process_exit");
	if (question_need(q, "sched", "sched_switch", &w->on_switch, f) || find_wakeups(st, f) ||
	    states_find_fork(q, f))
		return -1;
	st->gone = st->on_exit ? analysis_field(st->on_exit, "pid", false, f) : NULL;
	return st->on_exit && !st->gone ? -1 : 0;
}

void states_task(struct question *q, const struct pev_record *rec)
{
	switches_task(&((struct states *)q)->switches, rec);
}

bool states_are_over(struct question *q)
{
	return switches_are_over(&((struct states *)q)->switches);
}

void states_release(struct question *q)
{
	switches_free(&((struct states *)q)->switches);
}

/* ---- states ----------------------------------------------------------------------------- */

/* A flag next to the state in a pair's value: it began by preemption or a yield, not a wake-up. */
enum { PREEMPTED = 1 << 8 };

static enum task_state state_in(const struct open_pair *o)
{
	return (enum task_state)(o->value & ~(uint64_t)PREEMPTED);
}

bool states_waits(const struct open_pair *o)
{
	return state_in(o) == STATE_RUNNABLE;
}

/* The states in sched_switch: TASK_REPORT in include/linux/sched.h, since Linux 4.14. */
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

/* A task that leaves a CPU (ran) was running; a task that gets one was not. If o contradicts this, the kernel has left
 * out a switch, as it can while a task is in perf's own code: then o is not counted. */
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

static void report(struct states *st, const struct analysis_sample *s, pid_t tid, struct pair_end *end)
{
	st->preempted = end->value & PREEMPTED;
	end->value &= ~(uint64_t)PREEMPTED;
	st->question.ops->ended(&st->question, s, tid, end);
}

/* Ends the task's state; the next one is not known. o: its present state, or NULL. */
static void leave(struct states *st, struct open_pair *o, const struct analysis_sample *s, pid_t tid)
{
	struct pair_end end;

	if (!o)
		return;
	pairs_close(&st->question.pairs, o, s->time, &end);
	report(st, s, tid, &end);
}

static void change(struct states *st, struct open_pair *o, const struct analysis_sample *s, pid_t tid, uint64_t to)
{
	struct pair_end end;

	if (!o) {
		pairs_start(&st->question.pairs, s->time, (uint64_t)tid, to);
		return;
	}
	pairs_turn(o, s->time, to, &end);
	report(st, s, tid, &end);
}

static void take_prev(struct states *st, const struct analysis_sample *s, pid_t tid, uint64_t prev_state)
{
	struct pairs *p = &st->question.pairs;
	struct open_pair *o = check(p, pairs_find(p, (uint64_t)tid), true);
	enum task_state to = state_of(prev_state);

	if (prev_state & SWITCH_LEAVES)
		leave(st, o, s, tid);
	else
		change(st, o, s, tid, to == STATE_RUNNABLE ? (uint64_t)to | PREEMPTED : (uint64_t)to);
}

static void take_switch(struct states *st, const struct analysis_sample *s)
{
	struct switches *w = &st->switches;
	struct pairs *p = &st->question.pairs;
	uint64_t state = (uint64_t)trace_field_sint(w->prev_state, s->view.raw);
	pid_t prev = switches_task_in(s, w->prev_pid), next = switches_task_in(s, w->next_pid);

	switches_meet(w, s, prev);
	switches_meet(w, s, next);
	if (switches_watch(w, prev))
		take_prev(st, s, prev, state);
	if (switches_watch(w, next))
		change(st, check(p, pairs_find(p, (uint64_t)next), false), s, next, STATE_RUNNING);
	if (state & SWITCH_LEAVES)
		stream_task_ended(s->event, (pid_t)trace_field_sint(w->prev_pid, s->view.raw));
}

/* A wake-up of a task that already runs or waits to run is ignored. */
static void take_wakeup(struct states *st, const struct analysis_sample *s, bool new)
{
	pid_t tid = switches_task_in(s, st->woken[new]);
	struct open_pair *o;

	switches_meet(&st->switches, s, tid);
	if (!switches_watch(&st->switches, tid))
		return;
	o = pairs_find(&st->question.pairs, (uint64_t)tid);
	if (!o || (state_in(o) != STATE_RUNNING && state_in(o) != STATE_RUNNABLE))
		change(st, o, s, tid, STATE_RUNNABLE);
}

/* An exit ends the last state: the run may end before the last task's sched_switch. */
static void take_exit(struct states *st, const struct analysis_sample *s)
{
	struct pairs *p = &st->question.pairs;
	pid_t tid = switches_task_in(s, st->gone);

	if (switches_watch(&st->switches, tid))
		leave(st, check(p, pairs_find(p, (uint64_t)tid), true), s, tid);
}

static bool is_wakeup(const struct states *st, const struct analysis_sample *s)
{
	return s->event == st->on_wakeup || s->event == st->on_wakeup_new;
}

void states_sample(struct question *q, const struct analysis_sample *s)
{
	struct states *st = (struct states *)q;

	if (s->event == st->switches.on_switch)
		take_switch(st, s);
	else if (is_wakeup(st, s))
		take_wakeup(st, s, s->event == st->on_wakeup_new);
	else if (s->event == st->switches.on_fork)
		switches_take_fork(&st->switches, s);
	else if (s->event == st->on_exit)
		take_exit(st, s);
}

pid_t states_named(struct question *q, const struct analysis_sample *s, size_t *event)
{
	struct switches *w = &((struct states *)q)->switches;
	pid_t tid;

	*event = question_index(q, s);
	if (s->event == w->on_fork)
		switches_take_fork(w, s);
	if (*event == q->ops->nevents)
		return 0;
	tid = switches_task_in(s, q->fields[*event][0]);
	switches_meet(w, s, tid);
	return switches_watch(w, tid) ? tid : 0;
}

/* ---- tasks of a sample ------------------------------------------------------------------ */

/* Whether a sample is about the task; if it waited to run, all switches on its CPU are. */
bool states_concern(struct question *q, const struct analysis_sample *s, const struct happening *h)
{
	const struct states *st = (const struct states *)q;
	const struct switches *w = &st->switches;
	size_t i = question_index(q, s);

	if (i < q->ops->nevents)
		return switches_task_in(s, q->fields[i][0]) == h->tid;
	if (s->event == w->on_switch)
		return (h->end.value == STATE_RUNNABLE && s->cpu == h->s->cpu) ||
		       switches_task_in(s, w->prev_pid) == h->tid || switches_task_in(s, w->next_pid) == h->tid;
	if (is_wakeup(st, s))
		return switches_task_in(s, st->woken[s->event == st->on_wakeup_new]) == h->tid;
	if (s->event == st->on_exit)
		return switches_task_in(s, st->gone) == h->tid;
	return !w->recorded && s->event != w->on_fork;
}

const char *states_comm(struct question *q, const struct analysis_sample *s, pid_t tid)
{
	struct states *st = (struct states *)q;
	const struct switches *w = &st->switches;

	if (is_wakeup(st, s))
		return question_comm(q, s, tid, st->woken_comm[s->event == st->on_wakeup_new]);
	return question_comm(q, s, tid, q->a || switches_task_in(s, w->prev_pid) == tid ? w->prev_comm : w->next_comm);
}

pid_t states_prev(struct question *q, const struct analysis_sample *s, char comm[16])
{
	const struct switches *w = &((struct states *)q)->switches;
	const char *text;
	uint32_t len;

	memset(comm, 0, 16);
	if (!trace_field_data(w->prev_comm, s->view.raw, s->view.raw_size, &text, &len))
		memcpy(comm, text, len < 16 ? len : 15);
	return switches_task_in(s, w->prev_pid);
}

pid_t states_waker(struct question *q, const struct analysis_sample *s)
{
	return is_wakeup((struct states *)q, s) ? s->tid : 0;
}
