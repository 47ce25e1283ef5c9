/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof migrations: moves of threads between CPUs, and the time that they had stayed on the old CPU. */
#include "analysis/durations/commands.h"
#include "analysis/durations/states.h"

enum { WAKING, WAKEUP, NEW, GONE, MOVE };
enum { FIELD_PID, FIELD_FROM, FIELD_TO };
static const struct question_event events[] = {
	[WAKING] = { "sched", "sched_waking", { "pid" }, "comm" },
	[WAKEUP] = { "sched", "sched_wakeup", { "pid" }, "comm" },
	[NEW] = { "sched", "sched_wakeup_new", { "pid" }, "comm" },
	[GONE] = { "sched", "sched_process_free", { "pid" }, "comm" },   /* a task can move after sched_process_exit */
	[MOVE] = { "sched", "sched_migrate_task", { "pid", "orig_cpu", "dest_cpu" }, "comm" },
};

/* A move between sched_waking and sched_wakeup is the wake-up's choice of a CPU; any other one balances the load. */
static const char *reason(struct question *q, uint64_t waking, char *buf, size_t size)
{
	return waking ? "wake-up" : "balance";
}

enum { REASON, FROM, TO };
static const struct column columns[] = {
	[REASON] = { "reason", COLUMN_TEXT, COLUMN_KEY | COLUMN_FIELD, 8, .text = reason },
	[FROM] = { "from_cpu", COLUMN_SIGNED, COLUMN_PER_INSTANCE | COLUMN_FIELD },
	[TO] = { "to_cpu", COLUMN_SIGNED, COLUMN_PER_INSTANCE | COLUMN_FIELD },
};

/* A pair is a thread's stay on a CPU. Its value is 1 while the thread is being woken, else 0. */
static void sample(struct question *q, const struct analysis_sample *s)
{
	struct happening h = { .s = s };
	struct open_pair *stay;
	size_t i;

	h.tid = states_named(q, s, &i);
	stay = h.tid ? pairs_open(&q->pairs, (uint64_t)h.tid, q->begun) : NULL;
	if (stay && i == GONE)
		pairs_cancel(&q->pairs, stay);
	if (stay && i == NEW)
		stay->start = s->time;
	if (stay && i != MOVE)
		stay->value = i == WAKING;
	if (!stay || i != MOVE)
		return;
	pairs_turn(stay, s->time, stay->value, &h.end);
	h.comm = question_comm(q, s, h.tid, q->texts[MOVE]);
	h.cells[REASON].number = h.end.value;
	h.cells[FROM].number = question_number(q, s, MOVE, FIELD_FROM);
	h.cells[TO].number = question_number(q, s, MOVE, FIELD_TO);
	question_emit(q, &h);
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	snprintf(buf, size, "%s %d: stay on CPU %d before CPU %d (%s)", h->comm, pidmap_shown(h->tid),
		 (int)h->cells[FROM].number, (int)h->cells[TO].number, reason(q, h->end.value, NULL, 0));
}

static const struct question_ops question = {
	STATES_QUESTION_WITH(states_targets, states_find_fork, sample, states_task, states_release), .name = "migrations", .title = title,
	QUESTION_COLUMNS_ARE(columns), QUESTION_EVENTS_ARE(events), .everywhere = true,
	.print = "\"%s:%d from CPU %lld to %lld (%s) after %llu.%03llu us\", REC->comm, REC->tid, REC->from_cpu, REC->to_cpu, "
		 "REC->reason, REC->duration / 1000, REC->duration % 1000",
};

static const struct opt duration_opts[] = QUESTION_DURATIONS_OPTS("thread, old and new CPU");
static const struct opt by_opts[] = QUESTION_BY_OPTS(QUESTION_BY_TARGET);

const struct command migrations_command = {
	.usual = "than by perins pids all-cpus interval rows input json",
	QUESTION_COMMAND(question, struct states),
	OPT_GROUP_ROWS(
		QUESTION_DURATIONS_GROUP(duration_opts), QUESTION_BY_GROUP(by_opts), QUESTION_RUN_GROUPS),
	.name = "migrations", .usage = QUESTION_USAGE,
	.description = COMMAND_TEXT(
		"Which threads move between CPUs, how often, and how long did they stay on the old one? After a move, a thread finds "
		"cold caches. Reasons are wake-up (the kernel chose another CPU for a sleeping thread) and balance (a runnable or "
		"running thread was moved to balance the load, by taskset, or at exec).",
		"Prints a row for each thread and reason; --perins also shows from which CPU to which. The first stay of a thread is "
		"measured from the beginning of the run. --than prints longer stays, --heatmap draws all of them."),
	.summary = "count how often threads move between CPUs, and how long they stay on each",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof migrations -i 1000", "show which threads move, each second" },
		{ "perf-prof migrations --perins -p 1234", "show between which CPUs the threads of a process move" }),
};

const struct source_ops migrations_source = {
	QUESTION_SOURCE(question, struct states), OPT_GROUPS(question_source_groups), .name = "migrations",
	.summary = "each move of a thread to another CPU",
};
