/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof rundelay: the time from a thread's wake-up, or its preemption, until it runs. */
#include "analysis/durations/commands.h"
#include "analysis/durations/culprits.h"
#include "analysis/durations/sleepers.h"
#include "analysis/durations/states.h"
#include "base/escape.h"
#include "base/now.h"
#include "base/room.h"
#include "tasks/pidmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Threads that still wait for a CPU at the end: their waits are in no table, as these have not ended. One that has waited since
 * before the run causes no event at all; /proc/TID/schedstat says that it has not run.
 */

struct starved {
	struct starved_thread *all;
	size_t n;
	uint64_t since;              /* CLOCK_MONOTONIC, ns */
};

/* NEWS_NS: shorter waits are no news. */
enum { LINES = 10, NEWS_NS = 10000000 };

struct starved_thread {
	pid_t tid;
	unsigned long long ran;      /* ns on a CPU, before the run */
};

/* False: the thread does not exist, or the kernel does not tell (CONFIG_SCHED_INFO). */
static bool read_ran(pid_t tid, unsigned long long *ran)
{
	char path[64];
	FILE *f;
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)tid);
	f = fopen(path, "re");
	found = f && fscanf(f, "%llu", ran) == 1;
	if (f)
		fclose(f);
	return found;
}

/* How long a thread may run before the kernel accounts for it: some ticks, or a second where there is none (nohz_full). */
static uint64_t unaccounted_ns(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/nohz_full", "re");
	int first = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return first >= '0' && first <= '9' ? 1100000000 : 100000000;
}

/* Whether it could run. */
static bool is_ready(pid_t tid)
{
	uint64_t switches;
	char letter;

	return sleepers_status(tid, &letter, &switches) && letter == 'R';
}

static void add(void *ctx, pid_t tid)
{
	struct starved *s = ctx;

	if (!ROOM_FOR_ONE(s->all, s->n))
		return;
	s->all[s->n].tid = tid;
	s->n += is_ready(tid) && read_ran(tid, &s->all[s->n].ran);
}

/* Before events are opened; of no thread if the switches are of a recording or of all tasks. */
static void starved_begin(struct starved *s, const struct switches *w)
{
	*s = (struct starved){ .since = now_ns(CLOCK_MONOTONIC) };
	if (!w->recorded && !w->everybody)
		switches_each(w, add, s);
}

static void starved_free(struct starved *s)
{
	free(s->all);
	*s = (struct starved){ 0 };
}

static void put(struct question *q, pid_t tid, const char *since)
{
	const char *comm = analysis_comm(q->a, tid);
	char name[64];

	escape_terminal(comm, strlen(comm), name, sizeof(name));
	printf("%s %d still waits for a CPU, %s: not in the table\n", name, pidmap_shown(tid), since);
}

/* Whether it is ready, and has not run since then. */
static bool waits(const struct starved_thread *t)
{
	unsigned long long ran;

	return is_ready(t->tid) && read_ran(t->tid, &ran) && ran == t->ran;
}

/* Prints the threads that were seen to begin their wait. The event of its end may be missing: what runs now is left out. */
static void print_late(struct states *st, uint64_t now)
{
	struct question *q = &st->question;
	struct starved_thread late[LINES];
	uint64_t waited[LINES];
	char since[64];
	size_t n = 0;

	for (const struct open_pair *o = groups_first(&q->pairs.all); o && n < LINES; o = groups_next(o)) {
		late[n].tid = (pid_t)o->key;
		waited[n] = now > o->start ? now - o->start : 0;
		n += o->is_open && states_waits(o) && waited[n] >= NEWS_NS && is_ready(late[n].tid) && read_ran(late[n].tid, &late[n].ran);
	}
	if (n)
		usleep((useconds_t)(unaccounted_ns() / 1000));
	for (size_t i = 0; i < n; i++) {
		snprintf(since, sizeof(since), "for %.3f ms", (double)waited[i] / 1e6);
		if (waits(&late[i]))
			put(q, late[i].tid, since);
	}
}

/* Prints a line for each such thread of the targets. */
static void starved_print(const struct starved *s, struct states *st)
{
	struct question *q = &st->question;
	const uint64_t now = analysis_now(q->a);
	const bool accounted = now_ns(CLOCK_MONOTONIC) - s->since > unaccounted_ns();
	size_t n = 0;

	for (size_t i = 0; accounted && i < s->n && n < LINES; i++)
		if (!pairs_find(&q->pairs, (uint64_t)s->all[i].tid) && waits(&s->all[i])) {
			put(q, s->all[i].tid, "since before the run");
			n++;
		}
	if (!st->switches.recorded && !st->switches.everybody)
		print_late(st, now);
}

struct rundelay {
	struct states states;
	struct starved starved;
	struct culprits culprits;
};

enum { CPU, PREV_PID, PREV_COMM };
static const struct column columns[] = {
	[CPU] = { "cpu", COLUMN_SIGNED, COLUMN_PER_INSTANCE },
	[PREV_PID] = { "prev_pid", COLUMN_TASK, COLUMN_FIELD },
	[PREV_COMM] = { "prev_comm", COLUMN_TEXT, COLUMN_FIELD, 16 },
};

static void ended(struct question *q, const struct analysis_sample *s, pid_t tid, const struct pair_end *end)
{
	struct happening h = { .s = s, .end = *end, .tid = tid, .cells = { [CPU] = { s->cpu } } };
	struct rundelay *r = (struct rundelay *)q;
	char prev[16];

	if (end->value != STATE_RUNNABLE)
		return;
	if (q->a && !q->csv)
		culprits_waited(&r->culprits, s, end->start);
	h.comm = states_comm(q, s, tid);
	h.cells[PREV_PID].number = (uint64_t)states_prev(q, s, prev);
	h.cells[PREV_COMM].text = prev;
	question_emit(q, &h);
}

static void sample(struct question *q, const struct analysis_sample *s)
{
	struct rundelay *r = (struct rundelay *)q;
	char prev[16];

	if (q->a && !q->csv && s->event == r->states.switches.on_switch) {
		pid_t tid = states_prev(q, s, prev);

		culprits_switch(&r->culprits, s, tid, prev);
	}
	states_sample(q, s);
}

static void lost(struct question *q, const struct stream_loss *loss)
{
	culprits_lost(&((struct rundelay *)q)->culprits, loss);
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	snprintf(buf, size, "%s %d: from %s to running", h->comm, pidmap_shown(h->tid),
		 ((struct states *)q)->preempted ? "preemption" : "wake-up");
}

static int begin(struct question *q, struct fault *f)
{
	struct rundelay *r = (struct rundelay *)q;

	r->culprits.live = !q->targets->input;
	if (q->a)
		starved_begin(&r->starved, &r->states.switches);
	return states_begin(q, f);
}

static void more(struct question *q, struct table *t)
{
	struct json_object *ran = culprits_json(&((struct rundelay *)q)->culprits);

	if (ran)
		table_extra(t, "ran", ran);
}

static void after_table(struct question *q, uint64_t from)
{
	struct rundelay *r = (struct rundelay *)q;

	culprits_print(&r->culprits, q->a, from, q->from);
	if (q->ending && !q->common.json && !q->csv)
		starved_print(&r->starved, &r->states);
}

static void release(struct question *q)
{
	struct rundelay *r = (struct rundelay *)q;

	starved_free(&r->starved);
	culprits_free(&r->culprits);
	states_release(q);
}

static const struct question_ops question = {
	STATES_QUESTION_WITH(states_events, begin, sample, states_task, release), .lost = lost, .name = "rundelay",
	QUESTION_COLUMNS_ARE(columns), .usual = BY_TASK, .ended = ended, .title = title, .more = more, .after_table = after_table,
	.print = "\"%s:%d waited %llu.%03llu us, last for %s:%d\", REC->comm, REC->tid, REC->duration / 1000, "
		 "REC->duration % 1000, REC->prev_comm, REC->prev_pid",
};

static const struct opt duration_opts[] = QUESTION_DURATIONS_OPTS("thread and CPU");
static const struct opt by_opts[] = QUESTION_BY_OPTS("task");

const struct command rundelay_command = {
	.usual = "than by pids all-cpus interval rows input record json",
	QUESTION_COMMAND(question, struct rundelay),
	OPT_GROUP_ROWS(
		QUESTION_DURATIONS_GROUP(duration_opts), QUESTION_BY_GROUP(by_opts), QUESTION_EVENTS_GROUP, QUESTION_RUN_GROUPS),
	.name = "rundelay", .usage = QUESTION_USAGE,
	.description = COMMAND_TEXT(
		"How long do threads wait for a CPU when they could run? Measures each wait from the "
		"moment a thread is woken, preempted or yields until it runs. Prints a row for each thread (--by: process or name), "
		"with --perins for each thread and CPU. A second table shows which tasks had the CPU "
		"meanwhile, for how long, and the beginning of their command lines.",
		"-I reads recordings with sched_switch and sched_wakeup, or those of `perf sched record`, where a wait begins "
		"with sched_waking, slightly earlier.",
		"--than prints each longer wait when it ends: which task woke the thread, and which tasks ran on the CPU "
		"meanwhile.",
		"A wait that has not ended is in no table; of the targets, a line names the threads that have waited for over 10 ms.",
		"--heatmap draws all waits: when they ended, and how long they were.",
		"-p, -t and a command after -- select the threads to measure; new threads and children "
		"are followed unless you give --no-inherit. The scheduler is always traced on all CPUs, "
		"or on those of -C; -e may name its events, sched:sched_switch and sched:sched_wakeup*, and no others."),
	.summary = "measure how long threads wait for a CPU",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof rundelay -i 1000", "show which threads wait for a CPU, each second" },
		{ "perf-prof rundelay -p 1234 --than 10ms", "print each wait of a process over 10 ms, and which tasks ran meanwhile" },
		{ "perf-prof rundelay --json -o delay.json -- make -j8", "measure the waits of a build, as JSON" },
		{ "perf-prof rundelay --heatmap delay.svg -- make -j8", "draw how long the waits of a build were, over time" }),
};

const struct source_ops rundelay_source = {
	QUESTION_SOURCE(question, struct rundelay), OPT_GROUPS(question_source_groups), .name = "rundelay",
	.summary = "each time a thread waited for a CPU, when it runs",
};
