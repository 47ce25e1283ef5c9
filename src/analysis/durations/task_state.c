/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof task-state: how long tasks run, wait to run, sleep. */
#include "analysis/durations/commands.h"
#include "analysis/durations/sleepers.h"
#include "analysis/durations/switches.h"
#include "analysis/durations/task_state.h"
#include "base/note.h"
#include "expr/expr.h"

#include <string.h>

struct states {
	struct task_state_opts opts;
	uint64_t told;                   /* the state whose story is told */
	struct switches switches;
	struct sleepers sleepers;
	struct pairs pairs;
	unsigned int explained;          /* states whose letters were: a bit for each */
};

/* ---- the table ---------------------------------------------------------------------- */

/* A row: task, or tasks, and state. */
static void put(struct analysis *a, const struct distribution *d, struct table *t)
{
	grouping_put(d, t);
	table_text(t, task_state_letter((enum task_state)d->key[1]));
}

static const struct table_column columns[] = {
	GROUPING_COLUMNS, { "state", TABLE_TEXT, .title = "St" },
};
static const enum shown shown[] = {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX,
};
static const struct distribution_view view = {
	"task-state", columns, sizeof(columns) / sizeof(*columns), shown, sizeof(shown) / sizeof(*shown),
	put,
};

static void title(struct analysis *a, const struct distribution *d, uint64_t key, char *buf, size_t size)
{
	snprintf(buf, size, "%s %d %s", d->name, pidmap_shown((pid_t)key),
		 task_state_words((enum task_state)d->key[1]));
}

static bool between(struct analysis *a, const struct analysis_sample *s, uint64_t key, uint32_t cpu)
{
	struct states *t = a->config;

	/* who had the CPU matters to who wanted it */
	return switches_concern(&t->switches, s, (pid_t)key, t->told == STATE_RUNNABLE ? cpu : UINT32_MAX);
}

static const struct pair_ops pair_ops = {
	.view = &view, .title = title, .between = between, .history = true, .states = true,
};

/* ---- the run ------------------------------------------------------------------------ */

bool task_state_is_shown(const struct task_state_opts *o, const char *comm, uint64_t state)
{
	if ((o->only_sleeping || o->only_blocked) &&
	    !(o->only_sleeping && state == STATE_SLEEPING) && !(o->only_blocked && state == STATE_BLOCKED))
		return false;
	return !o->filter || expr_glob(o->filter, strlen(o->filter), comm, strlen(comm));
}

static void ended(void *ctx, const struct analysis_sample *s, pid_t tid, const struct pair_end *end)
{
	struct analysis *a = ctx;
	struct states *t = a->config;
	const char *comm = analysis_comm(a, tid, s->time);

	t->told = end->value;
	if (task_state_is_shown(&t->opts, comm, end->value))
		pairs_add_task(&t->pairs, s, end, comm, tid, end->value);
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct states *t = a->config;

	switches_take(&t->switches, &t->pairs, s, ended);
}

static int events(struct analysis *a, struct fault *f)
{
	return switches_events(&((struct states *)a->config)->switches, a, f);
}

static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	return pairs_read(a, PERF_SAMPLE_RAW);
}

static int begin(struct analysis *a, struct fault *f)
{
	struct states *t = a->config;

	if (switches_begin(&t->switches, a, f) || pairs_begin(&t->pairs, a, &pair_ops, f))
		return -1;
	pairs_group(&t->pairs, t->switches.everybody ? BY_COMM : BY_TASK);
	sleepers_begin(&t->sleepers, &t->switches);
	return 0;
}

static void slept(void *ctx, pid_t tid, enum task_state state)
{
	struct analysis *a = ctx;
	struct states *t = a->config;
	const char *comm = analysis_comm(a, tid, t->pairs.last);

	if (task_state_is_shown(&t->opts, comm, state))
		pairs_add_asleep(&t->pairs, comm, tid, state);
}

/* What letters mean that have not been in a table before: "R running, S asleep". */
static void explain(struct states *t, char *text, size_t size)
{
	unsigned int seen = 0;
	size_t n = 0;

	for (const struct distribution *d = t->pairs.rows.rows; d; d = d->hh.next)
		seen |= 1u << d->key[1];
	*text = '\0';
	for (int i = 0; i < TASK_STATES && n < size; i++)
		if ((seen & ~t->explained) >> i & 1)
			n += (size_t)snprintf(text + n, size - n, "%s%s %s", n ? ", " : "",
					      task_state_letter((enum task_state)i), task_state_words((enum task_state)i));
	t->explained |= seen;
}

static void interval(struct analysis *a)
{
	struct states *t = a->config;
	char legend[256];

	sleepers_each(&t->sleepers, slept, a);
	explain(t, legend, sizeof(legend));
	pairs_print(&t->pairs);
	if (*legend && !a->opts->json)
		note(a->opts->stream.verbose, "St: %s", legend);
}

static int end(struct analysis *a, struct fault *f)
{
	interval(a);
	return pairs_picture(&((struct states *)a->config)->pairs, f);
}

static bool is_over(struct analysis *a)
{
	return switches_are_over(&((struct states *)a->config)->switches);
}

static void release(struct analysis *a)
{
	struct states *t = a->config;

	pairs_free(&t->pairs);
	sleepers_free(&t->sleepers);
	switches_free(&t->switches);
}

static void task(struct analysis *a, const struct pev_record *rec)
{
	struct states *t = a->config;

	switches_task(&t->switches, rec);
	pairs_task(&t->pairs, rec);
}

static const struct analysis_ops ops = {
	.name = "task-state", .events = events, .reads = reads, .begin = begin, .sample = sample,
	.task = task, .interval = interval, .is_over = is_over, .end = end, .release = release, .chains_of_users = true,
	.attrs = STREAM_ATTR_STACK,
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

#define AT(member) offsetof(struct task_state_opts, member)

const struct opt task_state_opts[TASK_STATE_NOPTS] = {
	{ "interruptible", 'S', NULL, OPT_FLAG, AT(only_sleeping), NULL,
	  "Show only interruptible sleep (S); with -D both.", false, NULL },
	{ "uninterruptible", 'D', NULL, OPT_FLAG, AT(only_blocked), NULL,
	  "Show only uninterruptible sleep (D): disk, locks of the kernel.", false, NULL },
	{ "filter", 0, NULL, OPT_STRING, AT(filter), "COMM",
	  "Show only tasks with this name; globs work: 'kworker*'.", false, NULL },
};

static const struct opt_group groups[] = {
	{ "States", task_state_opts, TASK_STATE_NOPTS, 0 },
	{ "Durations", pair_opts_rows, PAIR_NOPTS, 0 },
	{ "Rows", pair_by_opts, PAIR_BY_NOPTS, 0 },
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
	{ "Machine", analysis_all_opts, ANALYSIS_ALL_NOPTS, 0 },
	{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, 0 },
	{ "Reading", stream_ring_opts, STREAM_RING_NOPTS, 0 },
	{ "Call chains", analysis_callchain_opts, ANALYSIS_CALLCHAIN_NOPTS, 0 },
	PAIR_PICTURE_GROUP,
	{ "For programs", analysis_json_opts, ANALYSIS_JSON_NOPTS, 0 },
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, 0 },
};

static const char *const description[] = {
	"Where does a task's time go: does it run, wait to run, or sleep, and for how long at a "
	"time? A row for each thread and state: R running, RD waiting to run (run delay), S asleep, "
	"D asleep uninterruptibly, T stopped, t stopped by a tracer, I idle (kernel threads), P "
	"parked. Without a target, tasks of one name share a row (--by task: each has its own).",
	"--than prints each longer stretch when it ends: the switch that began it, with -g its "
	"stack, who woke the task, and who ran on the CPU meanwhile.",
	"-p, -t and a command after -- choose the tasks; new threads and children are followed "
	"unless you give --no-inherit. The scheduler is watched on all CPUs in any case, or on those "
	"of -C.",
	"--heatmap draws all stretches of the table as a picture: when they ended, and how long they "
	"were.",
	"Stretches that began before perf-prof, or have not ended, are not counted. If a thread of -p or -t has slept "
	"since perf-prof began, each table has that as one stretch.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof task-state -p 1234 -i 1000", "a process, each second" },
	{ "perf-prof task-state -D --than 20ms -g", "who is blocked for longer than 20 ms, and where" },
	{ "perf-prof task-state --filter 'postgres*' --perins -i 1000", "all threads of that name" },
	{ "perf-prof task-state -- make -j8", "a build" },
	{ "perf-prof task-state -D --heatmap blocked.html -i 1000", "when tasks were blocked, and for how long, as a picture" },
	{ NULL, NULL },
};

const struct command task_state_command = {
	.name = "task-state",
	.summary = "measure how long tasks run, wait to run, and sleep",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.examples = examples,
	.mode = OPT_MODE_COMMAND,
	.config_size = sizeof(struct states),
	.defaults = analysis_defaults,
	.release = analysis_release,
	.run = run,
};
