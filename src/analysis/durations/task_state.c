/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof task-state: how long tasks run, wait to run, and sleep. */
#include "analysis/durations/commands.h"
#include "analysis/durations/sleepers.h"
#include "analysis/durations/states.h"
#include "base/note.h"
#include "expr/expr.h"

#include <string.h>

struct task_states {
	struct states states;
	const char *filter;              /* glob of comm */
	int sleeping, blocked;   /* OPT_TRI */
	struct sleepers sleepers;
	unsigned int explained;          /* states that have been in a legend: a bit for each */
	char legend[256];
};

static const char *letter(struct question *q, uint64_t state, char *buf, size_t size)
{
	return task_state_letter((enum task_state)state);
}

enum { STATE, WAKER };
static const struct column columns[] = {
	[STATE] = { "state", COLUMN_TEXT, COLUMN_KEY | COLUMN_FIELD, 4, "St", letter },
	[WAKER] = { "waker", COLUMN_TASK, COLUMN_FIELD },
};

static bool is_shown(const struct task_states *t, const char *comm, uint64_t state)
{
	const int asked = state == STATE_SLEEPING ? t->sleeping : state == STATE_BLOCKED ? t->blocked : 0;

	if (asked < 0 || (!asked && (t->sleeping > 0 || t->blocked > 0)))
		return false;
	return !t->filter || expr_glob(t->filter, strlen(t->filter), comm, strlen(comm));
}

static void ended(struct question *q, const struct analysis_sample *s, pid_t tid, const struct pair_end *end)
{
	const struct happening h = {
		.s = s, .end = *end, .tid = tid, .comm = states_comm(q, s, tid),
		.cells = { [STATE] = { end->value }, [WAKER] = { (uint64_t)states_waker(q, s) } },
	};

	if (is_shown((struct task_states *)q, h.comm, end->value))
		question_emit(q, &h);
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	snprintf(buf, size, "%s %d %s", h->comm, pidmap_shown(h->tid), task_state_words((enum task_state)h->end.value));
}

/* ---- the table -------------------------------------------------------------------------- */

static int begin(struct question *q, struct fault *f)
{
	struct task_states *t = (struct task_states *)q;

	if (states_begin(q, f))
		return -1;
	if (q->a)
		sleepers_begin(&t->sleepers, &t->states.switches);
	return 0;
}

static void slept(void *ctx, pid_t tid, enum task_state state)
{
	struct question *q = ctx;
	const char *comm = analysis_comm(q->a, tid);

	if (is_shown((struct task_states *)q, comm, state))
		question_add_asleep(q, comm, tid, state);
}

/* The legend for letters that are in a table for the first time: "R running, S asleep". */
static void explain(struct task_states *t, char *text, size_t size)
{
	unsigned int seen = 0;
	size_t n = 0;

	for (const struct distribution *d = groups_first(&t->states.question.rows.rows); d; d = groups_next(d))
		seen |= 1u << d->key[1];
	*text = '\0';
	for (int i = 0; i < TASK_STATES && n < size; i++)
		if ((seen & ~t->explained) >> i & 1)
			n += (size_t)snprintf(text + n, size - n, "%s%s %s", n ? ", " : "",
					      task_state_letter((enum task_state)i), task_state_words((enum task_state)i));
	t->explained |= seen;
}

static void before_table(struct question *q)
{
	struct task_states *t = (struct task_states *)q;

	sleepers_each(&t->sleepers, slept, q);
	explain(t, t->legend, sizeof(t->legend));
}

static void after_table(struct question *q, uint64_t from)
{
	const struct task_states *t = (struct task_states *)q;

	if (*t->legend && !q->common.json && !q->csv)
		note(q->common.stream.verbose, "St: %s", t->legend);
}

static void release(struct question *q)
{
	states_release(q);
	sleepers_free(&((struct task_states *)q)->sleepers);
}

static const struct question_ops question = {
	STATES_QUESTION_WITH(states_events, begin, states_sample, states_task, release), .name = "task-state",
	QUESTION_COLUMNS_ARE(columns), .ended = ended, .title = title, .before_table = before_table, .after_table = after_table,
	.print = "\"%s:%d %s for %llu.%03llu us\", REC->comm, REC->tid, REC->state, REC->duration / 1000, "
		 "REC->duration % 1000",
};

/* ---- the command ------------------------------------------------------------------------ */

#define AT(member) offsetof(struct task_states, member)

static const struct opt state_opts[] = {
	{ "interruptible", 'S', NULL, OPT_TRI, AT(sleeping), NULL,
	  "Show only interruptible sleep (S); with -D, both. --no-interruptible: all but that.", true, NULL },
	{ "uninterruptible", 'D', NULL, OPT_TRI, AT(blocked), NULL,
	  "Show only uninterruptible sleep (D), such as waits for disks and kernel locks. --no-uninterruptible: all but that.", true, NULL },
	{ "filter", 0, NULL, OPT_STRING, AT(filter), "COMM",
	  "Show only tasks with this name; globs work: 'kworker*'.", false, NULL },
};

#define STATE_GROUP { "States", state_opts, sizeof(state_opts) / sizeof(*state_opts), 0 }

static const struct opt_group source_groups[] = { STATE_GROUP, QUESTION_SOURCE_GROUPS };

static const struct opt duration_opts[] = QUESTION_DURATIONS_OPTS("thread");
static const struct opt by_opts[] = QUESTION_BY_OPTS(QUESTION_BY_TARGET);

const struct command task_state_command = {
	.usual = "interruptible than by pids all-cpus interval call-graph rows input record json",
	QUESTION_COMMAND(question, struct task_states),
	OPT_GROUP_ROWS(
		STATE_GROUP, QUESTION_DURATIONS_GROUP(duration_opts), QUESTION_BY_GROUP(by_opts), QUESTION_EVENTS_GROUP, QUESTION_RUN_GROUPS),
	.name = "task-state", .usage = QUESTION_USAGE,
	.description = COMMAND_TEXT(
		"Where does a task's time go: does it run, wait to run, or sleep, and for how long at a "
		"time? Prints a row for each thread and state: R running, RD waiting to run (run delay), S asleep, "
		"D asleep uninterruptibly, T stopped, t stopped by a tracer, I idle (kernel threads), P "
		"parked. Without a target, tasks with the same name share a row (--by task: each has its own).",
		"--than prints each longer period in a state when it ends: the switch that began it, with -g its "
		"stack, which task woke it, and which tasks ran on the CPU meanwhile.",
		"-p, -t and a command after -- select the tasks; new threads and children are followed "
		"unless you give --no-inherit. The scheduler is always traced on all CPUs, or on those "
		"of -C; -e may name its events, sched:sched_switch and sched:sched_wakeup*, and no others.",
		"--heatmap draws all periods of the table: when they ended, and how long they were.",
		"Periods that began before perf-prof, or have not ended, are not counted. If a thread of -p or -t has slept "
		"since perf-prof began, each table counts that sleep as one period."),
	.summary = "measure how long tasks run, wait to run, and sleep",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof task-state -p 1234 -i 1000", "measure the threads of a process, each second" },
		{ "perf-prof task-state -D --than 20ms -g", "print which tasks are blocked for longer than 20 ms, and where" },
		{ "perf-prof task-state --filter 'postgres*' --perins -i 1000", "measure all threads of these names, one by one" },
		{ "perf-prof task-state -- make -j8", "measure a build" },
		{ "perf-prof task-state -D --heatmap blocked.svg -i 1000", "draw when tasks were blocked, and for how long" }),
};

const struct source_ops task_state_source = {
	QUESTION_SOURCE(question, struct task_states), OPT_GROUPS(source_groups), .name = "task-state",
	.summary = "each period in which a task ran, waited or slept, when it ends",
};
