/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof rundelay: the time from a thread's wake-up, or its preemption, until it runs. */
#include "analysis/durations/commands.h"
#include "analysis/durations/culprits.h"
#include "analysis/durations/starved.h"

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
