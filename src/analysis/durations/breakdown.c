/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/breakdown.h"

#include "base/note.h"
#include "base/pidns.h"
#include "engine/callnames.h"
#include "tasks/pidmap.h"

#include <stdio.h>
#include <string.h>

/* A thread that is in a call, or one that was, whose memory is kept for its next call. */
struct breakdown_thread {
	pid_t tid;
	bool in_call;
	bool has_lost;               /* events, in this call */
	uint64_t since;              /* perf clock, ns */
	struct breakdown_sums sums;
	struct callstack *stack;     /* with which it went to sleep last, until it is woken; or NULL */
};

enum { MAX_THREADS = 1 << 16, MAX_IDLE = 4096 };

/* ---- sums ------------------------------------------------------------------------------- */

/* At most this many tasks. Where commands come and go all the time, there are more: those with the longest times are kept, and
 * the others share an entry of their part. */
enum { MAX_WHOM = 512, KEPT_WHOM = MAX_WHOM / 2 };

static int longest_first(const void *x, const void *y)
{
	const struct breakdown_whom *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

static void add_whom(struct breakdown_sums *sums, enum breakdown_part part, uint64_t name, pid_t tid, uint64_t ns);

static void merge_short(struct breakdown_sums *sums)
{
	uint64_t rest[BREAKDOWN_PARTS] = { 0 };
	size_t kept = 0;

	groups_sort(&sums->whom, longest_first);
	for (struct breakdown_whom *one = groups_first(&sums->whom); one; one = groups_next(one)) {
		if (kept < KEPT_WHOM && one->key.name != WORDS_OTHERS) {
			kept++;
			continue;
		}
		rest[one->key.part] += one->ns;
		groups_drop(&sums->whom, one);
	}
	for (int i = 0; i < BREAKDOWN_PARTS; i++)
		add_whom(sums, (enum breakdown_part)i, WORDS_OTHERS, 0, rest[i]);
}

static void add_whom(struct breakdown_sums *sums, enum breakdown_part part, uint64_t name, pid_t tid, uint64_t ns)
{
	struct breakdown_whom *one, wanted = { { part, name, tid }, 0 };

	if (!ns)
		return;
	if (sums->whom.n >= MAX_WHOM && !groups_find(&sums->whom, &wanted.key, sizeof(wanted.key)))
		merge_short(sums);
	one = groups_get(&sums->whom, &wanted.key, sizeof(wanted.key), sizeof(*one), UINT32_MAX);
	if (one)
		one->ns += ns;
}

/* More stacks share the entry of those that are not known. */
enum { MAX_WAITS = 1024 };

static void add_wait(struct breakdown_sums *sums, const struct breakdown_wait *wait)
{
	struct breakdown_wait *one = groups_get(&sums->waits, &wait->key, sizeof(wait->key), sizeof(*one), MAX_WAITS);
	const struct breakdown_wait others = { .key.part = wait->key.part };

	if (!one)   /* one for each part, above the limit */
		one = groups_get(&sums->waits, &others.key, sizeof(others.key), sizeof(*one), MAX_WAITS + BREAKDOWN_PARTS);
	if (!one)
		return;
	one->times += wait->times;
	one->ns += wait->ns;
}

void breakdown_sums_add(struct breakdown_sums *to, const struct breakdown_sums *from)
{
	to->calls += from->calls;
	to->total += from->total;
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		to->ns[i] += from->ns[i];
	for (size_t i = 0; i < BREAKDOWN_WHYS; i++)
		to->why[i] += from->why[i];
	for (const struct breakdown_whom *one = groups_first(&from->whom); one; one = groups_next(one))
		add_whom(to, (enum breakdown_part)one->key.part, one->key.name, (pid_t)one->key.tid, one->ns);
	for (const struct breakdown_wait *one = groups_first(&from->waits); one; one = groups_next(one))
		add_wait(to, one);
}

/* Its memory is used again. */
static void clear(struct breakdown_sums *sums)
{
	groups_clear(&sums->whom);
	groups_clear(&sums->waits);
	*sums = (struct breakdown_sums){ .whom = sums->whom, .waits = sums->waits };
}

void breakdown_sums_free(struct breakdown_sums *sums)
{
	groups_free(&sums->whom);
	groups_free(&sums->waits);
	*sums = (struct breakdown_sums){ 0 };
}

/* ---- events ------------------------------------------------------------------------------ */

/* The names of the events end with this, as -e may have the same tracepoints. */
#define OURS "_of_breakdown"
#define NEEDED "sched:sched_switch,sched:sched_waking"

static int add_of(struct analysis *a, const char *sys, const char *name, struct fault *f)
{
	return analysis_add_event(a, f, "%s:%s//alias=%s" OURS "/untraced/stack=no/", sys, name, name);
}

static int add(struct analysis *a, const char *name, struct fault *f)
{
	return add_of(a, "sched", name, f);
}

/*
 * sched_waking happens in the task that wakes another one. sched_wakeup follows, maybe on the CPU of the woken task: it is for a
 * task that was woken just before it left its CPU, whose sched_waking comes too early. In a PID namespace, forks map the ids of
 * new tasks. Call chains are sampled of the targets alone, as those of all tasks are too expensive. A
 * recording can have them, too.
 */
int breakdown_events(const struct breakdown *b, struct analysis *a, struct fault *f)
{
	const bool live = !a->opts->stream.input;

	if (add(a, "sched_switch", f) || add(a, "sched_waking", f) || (live && add(a, "sched_wakeup", f)) ||
	    (live && !pidns_is_initial() && add(a, "sched_process_fork", f)) ||
	    (b->shows_on && (add_of(a, "raw_syscalls", "sys_enter", f) || add_of(a, "raw_syscalls", "sys_exit", f))))
		return -1;
	if (live && !a->opts->stream.call_graph)
		return 0;
	/* in a recording, it may be the event of all switches: none is left out there */
	return analysis_add_event(a, f, "sched:sched_switch/%s/alias=sched_switch_stack" OURS "/untraced/", live ? "prev_state&0xff" : "");
}

bool breakdown_has(const struct stream_event *event)
{
	const char *alias = event->asked.alias;
	const size_t len = alias ? strlen(alias) : 0;

	return len > strlen(OURS) && !strcmp(alias + len - strlen(OURS), OURS);
}

void breakdown_explain(const char *input, struct fault *f)
{
	char *name = strstr(f->text, "has no event sched:");

	if (!name || !strstr(f->text, OURS))
		return;
	name = strdup(strchr(name, ':') - strlen("sched"));
	if (name)
		name[strcspn(name, "\n ")] = '\0';
	fault_usage(f, "latency: --breakdown needs %s, which %s lacks; record with -a -e %s and the events of the pairs",
		    name ? name : NEEDED, input, NEEDED);
	free(name);
}

/* The event that the breakdown itself needs: -e may have another one of the same tracepoint. */
static const struct stream_event *ours(struct analysis *a, const char *tracepoint)
{
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++)
		if (breakdown_has(&events[i]) && !strcmp(events[i].tracepoint, tracepoint))
			return &events[i];
	return NULL;
}

/* In a recording, both can be the same event. */
static void find_switches(struct breakdown *b, struct analysis *a)
{
	const struct stream_event **all = &b->states.switches.on_switch;
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++) {
		if (!breakdown_has(&events[i]) || strcmp(events[i].tracepoint, "sched_switch"))
			continue;
		if (!*all || (*all)->layout.callchain)
			*all = &events[i];
		if (!b->on_stack && events[i].layout.callchain)
			b->on_stack = &events[i];
	}
}

static void open_for_all_tasks(const struct breakdown *b, struct analysis *a)
{
	const struct stream_opts *o = &a->opts->stream;
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++)
		if (breakdown_has(&events[i]) && !strcmp(events[i].sys, "sched") &&
		    (&events[i] != b->on_stack || b->on_stack == b->states.switches.on_switch))
			events[i].asked.everywhere = o->pids.n || o->tids.n || o->cgroups.n;
}

static void ended(struct question *q, const struct analysis_sample *s, pid_t tid, const struct pair_end *end);

/* states.c takes two kinds of wake-ups. */
static int find_wakeups(struct breakdown *b, struct fault *f)
{
	struct states *st = &b->states;

	st->on_wakeup = b->on_waking;
	st->on_wakeup_new = ours(st->question.a, "sched_wakeup");
	for (size_t i = 0; i < 2; i++) {
		const struct stream_event *woken = i ? st->on_wakeup_new : st->on_wakeup;

		st->woken[i] = woken ? analysis_field(woken, "pid", false, f) : NULL;
		if (woken && !st->woken[i])
			return -1;
	}
	b->flags = analysis_field(b->on_waking, "common_flags", false, f);
	return b->flags ? 0 : -1;
}

static int find_calls(struct breakdown *b, struct analysis *a, struct fault *f)
{
	b->on_enter = ours(a, "sys_enter");
	b->on_leave = ours(a, "sys_exit");
	if (!b->on_enter || !b->on_leave)
		return analysis_lacks(a, "raw_syscalls", b->on_enter ? "sys_exit" : "sys_enter", f);
	b->call_nr = analysis_field(b->on_enter, "id", false, f);
	b->args = b->call_nr ? analysis_field(b->on_enter, "args", true, f) : NULL;
	b->waiton.recorded = a->opts->stream.input;
	b->waiton.names = &a->names;
	a->names.user |= b->waiton.recorded || a->opts->stream.record;   /* for the names of locks */
	return b->args ? 0 : -1;
}

int breakdown_begin(struct breakdown *b, struct analysis *a, struct fault *f)
{
	static const struct question_ops ops = { .name = "latency", .ended = ended };
	struct switches *w = &b->states.switches;

	b->states.question.ops = &ops;
	b->states.question.a = a;
	w->everybody = true;
	find_switches(b, a);
	b->on_waking = ours(a, "sched_waking");
	if (!w->on_switch || !b->on_waking)
		return analysis_lacks(a, "sched", w->on_switch ? "sched_waking" : "sched_switch", f);
	open_for_all_tasks(b, a);
	if (a->opts->stream.call_graph && !b->on_stack)
		note(a->opts->stream.verbose < 0 ? -1 : 1, "latency: -g: the recording has no call chains of sched:sched_switch; "
		     "record them with -e 'sched:sched_switch//stack=auto/'");
	return analysis_has_everybody(a->stream, "latency --breakdown", w->on_switch, f) || switches_read_fields(w, f) ||
	       find_wakeups(b, f) || (b->shows_on && find_calls(b, a, f)) ? -1 : 0;
}

/* ---- states ------------------------------------------------------------------------------ */

static struct breakdown_thread *in_call(struct breakdown *b, pid_t tid)
{
	struct breakdown_thread *t = groups_find(&b->threads, &tid, sizeof(tid));

	return t && t->in_call ? t : NULL;
}

static enum breakdown_part part_of(enum task_state state)
{
	switch (state) {
	case STATE_RUNNING: return PART_RUNNING;
	case STATE_RUNNABLE: return PART_WAITING;
	case STATE_SLEEPING: return PART_ASLEEP;
	case STATE_BLOCKED: return PART_BLOCKED;
	default: return PART_OTHER;
	}
}

struct wait {
	struct breakdown *b;
	struct breakdown_sums *sums;
};

static void ran_meanwhile(void *ctx, pid_t tid, const char *comm, uint64_t ns)
{
	const struct wait *w = ctx;

	/* a task outside of the PID namespace has no id here */
	add_whom(w->sums, PART_WAITING, words_number(&w->b->words, comm), pidmap_is_outer(tid) ? 0 : tid, ns);
}

/* What woke the thread, if it is no task; else NULL. An interrupt is not the work of the task that it interrupts. A soft
 * interrupt may be, if it delivers what a task of this machine sent (waits.c); one that ends an uninterruptible sleep completes a
 * disk's request. A switch to the thread ends a sleep whose wake-up the kernel did not report. */
static const char *no_task(const struct breakdown *b, enum breakdown_part part, const struct analysis_sample *s, const char *comm)
{
	const uint64_t flags = s->event == b->on_waking ? trace_field_uint(b->flags, s->view.raw) : 0;

	if (s->event != b->on_waking)
		return "[not known]";
	if (flags & (TRACE_HARDIRQ | TRACE_NMI))
		return "[interrupt]";
	return flags & TRACE_SOFTIRQ && (part == PART_BLOCKED || *comm == '<') ? "[softirq]" : NULL;
}

static void woken(struct breakdown *b, struct breakdown_thread *t, enum breakdown_part part, const struct analysis_sample *s,
		  uint64_t ns)
{
	const char *comm = analysis_comm(b->states.question.a, s->tid), *other = no_task(b, part, s, comm);
	const bool softly = !other && trace_field_uint(b->flags, s->view.raw) & TRACE_SOFTIRQ;
	char name[WORD_SIZE], text[WORD_SIZE];
	uint64_t waker, on = 0;

	snprintf(name, sizeof(name), "%s%s", other ? other : comm, softly ? " [softirq]" : "");
	waker = words_number(&b->words, name);
	add_whom(&t->sums, part, waker, other || pidmap_is_outer(s->tid) ? 0 : s->tid, ns);
	if (b->shows_on) {
		on = words_number(&b->words, waiton_text(&b->waiton, t->tid, text, sizeof(text)));
		waitkinds_add(&b->kinds, on, &(struct waitkinds_of){ .calls = waiton_kinds(&b->waiton, t->tid) });
	}
	if (b->on_stack || on)
		add_wait(&t->sums, &(struct breakdown_wait){ { part, waker, on, t->stack }, 1, ns });
	t->stack = NULL;
}

/* states.c calls it at the end of each state. */
static void ended(struct question *q, const struct analysis_sample *s, pid_t tid, const struct pair_end *end)
{
	struct breakdown *b = (struct breakdown *)q;
	struct breakdown_thread *t = in_call(b, tid);
	const enum breakdown_part part = part_of((enum task_state)end->value);
	const uint64_t from = t && end->start < t->since ? t->since : end->start, ns = s->time > from ? s->time - from : 0;

	if (!t)
		return;
	t->sums.ns[part] += ns;
	if (part == PART_WAITING)
		culprits_each(&b->runs, s, from, ran_meanwhile, &(struct wait){ b, &t->sums });
	else if (part != PART_RUNNING)
		woken(b, t, part, s, ns);
}

/* Whether the sample is about a thread that is in a call. */
static bool is_about_call(struct breakdown *b, const struct analysis_sample *s)
{
	const struct states *st = &b->states;
	const struct switches *w = &st->switches;

	if (s->event == w->on_switch)
		return in_call(b, switches_task_in(s, w->prev_pid)) || in_call(b, switches_task_in(s, w->next_pid));
	return (s->event == st->on_wakeup || s->event == st->on_wakeup_new) &&
	       in_call(b, switches_task_in(s, st->woken[s->event == st->on_wakeup_new]));
}

static void forget(struct breakdown *b, struct breakdown_thread *t)
{
	t->in_call = false;
	if (b->threads.n <= MAX_IDLE)
		return;
	breakdown_sums_free(&t->sums);
	groups_drop(&b->threads, t);
}

/* The sample may come before on_switch, which says that the thread sleeps, or after it. */
static void take_stack(struct breakdown *b, const struct analysis_sample *s)
{
	const struct switches *w = &b->states.switches;
	struct breakdown_thread *t = in_call(b, switches_task_in(s, w->prev_pid));

	if (t && trace_field_sint(w->prev_state, s->view.raw) & 0xff)
		t->stack = analysis_stack(b->states.question.a, s);
}

/* What it waits on has to be looked up while it waits. */
static void take_sleep(struct breakdown *b, const struct analysis_sample *s)
{
	const struct switches *w = &b->states.switches;
	const pid_t tid = switches_task_in(s, w->prev_pid);
	const int64_t state = trace_field_sint(w->prev_state, s->view.raw);

	if (state & SWITCH_LEAVES)
		waiton_forget(&b->waiton, tid);
	else if (state & 0xff && in_call(b, tid))
		waiton_wait(&b->waiton, tid, s->time);
}

static void take_call(struct breakdown *b, const struct analysis_sample *s)
{
	uint64_t args[WAITON_ARGS] = { 0 };
	const char *bytes;
	uint32_t len;

	if (s->event == b->on_leave) {
		waiton_leave(&b->waiton, s->tid);
		return;
	}
	if (!trace_field_data(b->args, s->view.raw, s->view.raw_size, &bytes, &len))
		memcpy(args, bytes, len < sizeof(args) ? len : sizeof(args));
	waiton_enter(&b->waiton, s->pid, s->tid, sampled_call(s, trace_field_sint(b->call_nr, s->view.raw)), args);
}

/* Its call has no end. */
static void forget_ended(struct breakdown *b, const struct analysis_sample *s)
{
	struct breakdown_thread *t = in_call(b, switches_task_in(s, b->states.switches.prev_pid));

	if (t)
		forget(b, t);
}

void breakdown_sample(struct breakdown *b, const struct analysis_sample *s)
{
	const bool is_switch = s->event == b->states.switches.on_switch;
	const bool leaves = is_switch && trace_field_sint(b->states.switches.prev_state, s->view.raw) & SWITCH_LEAVES;
	struct question *q = &b->states.question;
	char prev[16];

	if (s->event == b->on_stack)
		take_stack(b, s);
	if (b->shows_on && (s->event == b->on_enter || s->event == b->on_leave))
		take_call(b, s);
	if (is_switch) {
		pid_t tid = states_prev(q, s, prev);

		culprits_switch(&b->runs, s, tid, prev);
		if (b->shows_on)
			take_sleep(b, s);
	}
	if (is_about_call(b, s))
		states_sample(q, s);
	else if (leaves)
		stream_task_ended(s->event, (pid_t)trace_field_sint(b->states.switches.prev_pid, s->view.raw));
	if (leaves)
		forget_ended(b, s);
}

/* The present state of each thread is not known any more. */
void breakdown_lost(struct breakdown *b, const struct stream_loss *loss)
{
	struct pairs *p = &b->states.question.pairs;

	culprits_lost(&b->runs, loss);
	for (struct breakdown_thread *t = groups_first(&b->threads); loss->count && t; t = groups_next(t)) {
		struct open_pair *o = t->in_call ? pairs_find(p, (uint64_t)t->tid) : NULL;

		t->has_lost = true;
		if (o)
			pairs_cancel(p, o);
	}
}

/* ---- calls ------------------------------------------------------------------------------- */

static struct breakdown_thread *thread(struct breakdown *b, pid_t tid)
{
	struct breakdown_thread *t = groups_get(&b->threads, &tid, sizeof(tid), sizeof(*t), MAX_THREADS);

	if (!t && b->threads.n >= MAX_THREADS && !b->has_said_full) {
		fprintf(stderr, "perf-prof: latency: more than %d threads are in calls: where the time of the others goes is unknown\n",
			MAX_THREADS);
		b->has_said_full = true;
	}
	return t;
}

/* A state that was known before is that of another call, or of a thread that has ended. */
void breakdown_start(struct breakdown *b, const struct analysis_sample *s)
{
	struct pairs *p = &b->states.question.pairs;
	struct open_pair *o = pairs_find(p, (uint64_t)s->tid);
	struct breakdown_thread *t = thread(b, s->tid);

	if (!t)
		return;
	if (o)
		pairs_cancel(p, o);
	clear(&t->sums);
	t->stack = NULL;
	t->in_call = true;
	t->has_lost = false;
	t->since = s->time;
	pairs_start(p, s->time, (uint64_t)s->tid, STATE_RUNNING);
}

/* The last state of the thread; the rest is unknown. */
static void finish(struct breakdown *b, const struct analysis_sample *s, struct breakdown_thread *t)
{
	struct pairs *p = &b->states.question.pairs;
	struct open_pair *o = pairs_find(p, (uint64_t)t->tid);
	const bool runs = o && o->value == STATE_RUNNING;
	struct breakdown_sums done = t->sums;
	struct pair_end end;

	if (o)
		pairs_close(p, o, s->time, &end);
	if (runs)
		done.ns[PART_RUNNING] += end.duration;
	t->sums = b->call;
	b->call = done;
}

void breakdown_end(struct breakdown *b, const struct analysis_sample *s, const struct pair_end *end)
{
	struct breakdown_thread *t = in_call(b, s->tid);
	const enum breakdown_why why = !t ? WHY_FULL : t->has_lost ? WHY_LOST : WHY_UNREPORTED;
	uint64_t known = 0;

	clear(&b->call);
	if (t) {
		finish(b, s, t);
		forget(b, t);
	}
	for (size_t i = 0; i < PART_UNKNOWN; i++)
		known += b->call.ns[i];
	b->call.calls = 1;
	b->call.total = end->duration;
	b->call.ns[PART_UNKNOWN] = b->call.why[why] = end->duration > known ? end->duration - known : 0;
}

static void keep_stacks(void *ctx)
{
	const struct breakdown *b = ctx;

	for (const struct breakdown_thread *t = groups_first(&b->threads); t; t = groups_next(t)) {
		if (t->in_call && t->stack)
			callstacks_keep(t->stack);
		for (const struct breakdown_wait *one = groups_first(&t->sums.waits); one && t->in_call; one = groups_next(one))
			if (one->key.stack)
				callstacks_keep(one->key.stack);
	}
}

void breakdown_rest(struct breakdown *b)
{
	if (b->on_stack)
		callstacks_rest(b->states.question.a->stacks, keep_stacks, b);
}

void breakdown_free(struct breakdown *b)
{
	for (struct breakdown_thread *t = groups_first(&b->threads); t; t = groups_next(t))
		breakdown_sums_free(&t->sums);
	groups_free(&b->threads);
	breakdown_sums_free(&b->call);
	culprits_free(&b->runs);
	states_release(&b->states.question);
	pairs_free(&b->states.question.pairs);
	words_free(&b->words);
	waitkinds_free(&b->kinds);
	waiton_free(&b->waiton);
}
