/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof rundelay: from being woken, or preempted, to running. */
#include "analysis/durations/commands.h"
#include "analysis/durations/switches.h"

#include <stdlib.h>

struct rundelay {
	struct pair_opts opts;
	struct switches switches;
	struct pairs pairs;
};

/* ---- the table ---------------------------------------------------------------------- */

/* A row: task, or tasks, and with --perins CPU + 1. */
static void put(struct analysis *a, const struct distribution *d, struct table *t)
{
	grouping_put(d, t);
	if (d->key[1])
		table_integer(t, (int64_t)d->key[1] - 1);
	else
		table_none(t);
}

static const struct table_column columns[] = {
	GROUPING_COLUMNS, { "cpu", TABLE_INTEGER },
};
static const enum shown shown[] = {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX,
};
static const struct distribution_view view = {
	"rundelay", columns, sizeof(columns) / sizeof(*columns), shown, sizeof(shown) / sizeof(*shown), put,
};

static void title(struct analysis *a, const struct distribution *d, uint64_t key, char *buf, size_t size)
{
	const struct rundelay *r = a->config;

	snprintf(buf, size, "%s %d: from %s to running", d->name, pidmap_shown((pid_t)key),
		 r->switches.preempted ? "preemption" : "wake-up");
}

static bool between(struct analysis *a, const struct analysis_sample *s, uint64_t key, uint32_t cpu)
{
	struct rundelay *r = a->config;

	return switches_concern(&r->switches, s, (pid_t)key, cpu);
}

static const struct pair_ops pair_ops = {
	.view = &view, .title = title, .between = between, .history = true, .states = true,
};

/* ---- the run ------------------------------------------------------------------------ */

static void ended(void *ctx, const struct analysis_sample *s, pid_t tid, const struct pair_end *end)
{
	struct analysis *a = ctx;
	struct rundelay *r = a->config;

	if (end->value == STATE_RUNNABLE)
		pairs_add_task(&r->pairs, s, end, analysis_comm(a, tid, s->time), tid,
			       r->opts.per_instance ? s->cpu + 1 : 0);
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct rundelay *r = a->config;

	switches_take(&r->switches, &r->pairs, s, ended);
}

static int events(struct analysis *a, struct fault *f)
{
	return switches_events(&((struct rundelay *)a->config)->switches, a, f);
}

static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	return pairs_read(a, PERF_SAMPLE_RAW);
}

static int begin(struct analysis *a, struct fault *f)
{
	struct rundelay *r = a->config;

	if (switches_begin(&r->switches, a, f) || pairs_begin(&r->pairs, a, &pair_ops, f))
		return -1;
	pairs_group(&r->pairs, BY_TASK);
	return 0;
}

static void interval(struct analysis *a)
{
	pairs_print(&((struct rundelay *)a->config)->pairs);
}

static int end(struct analysis *a, struct fault *f)
{
	interval(a);
	return pairs_picture(&((struct rundelay *)a->config)->pairs, f);
}

static bool is_over(struct analysis *a)
{
	return switches_are_over(&((struct rundelay *)a->config)->switches);
}

static void release(struct analysis *a)
{
	struct rundelay *r = a->config;

	pairs_free(&r->pairs);
	switches_free(&r->switches);
}

static void task(struct analysis *a, const struct pev_record *rec)
{
	struct rundelay *r = a->config;

	switches_task(&r->switches, rec);
	pairs_task(&r->pairs, rec);
}

static const struct analysis_ops ops = {
	.name = "rundelay", .events = events, .reads = reads, .begin = begin, .sample = sample,
	.task = task, .interval = interval, .is_over = is_over, .end = end, .release = release, .chains_of_users = true,
	.attrs = STREAM_ATTR_STACK,
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

static const struct opt_group groups[] = {
	{ "Run delay", pair_opts_rows, PAIR_NOPTS, 0 },
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
	"How long do threads wait for a CPU when they could run? Measures each stretch from the "
	"moment a thread is woken, preempted or yields until it runs. A row for each thread (--by: process or name), "
	"with --perins for each thread and CPU.",
	"-I reads recordings with sched_switch and sched_wakeup, or those of `perf sched record`, where a wait begins "
	"with sched_waking, a moment earlier.",
	"--than prints each longer wait when it ends: who woke the thread, and who ran on the CPU "
	"meanwhile.",
	"--heatmap draws all waits as a picture: when they ended, and how long they were.",
	"-p, -t and a command after -- choose whose waiting is measured; new threads and children "
	"are followed unless you give --no-inherit. The scheduler is watched on all CPUs in any "
	"case, or on those of -C.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof rundelay -i 1000", "who waits for a CPU, each second" },
	{ "perf-prof rundelay -p 1234 --than 10ms", "each time a process waited longer than 10 ms, and for whom" },
	{ "perf-prof rundelay --json -o delay.json -- make -j8", "a build, as JSON for programs" },
	{ "perf-prof rundelay --heatmap delay.svg -- make -j8", "the same as a picture: how long waits were, over time" },
	{ NULL, NULL },
};

const struct command rundelay_command = {
	.name = "rundelay",
	.summary = "measure how long threads wait for a CPU",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.examples = examples,
	.mode = OPT_MODE_COMMAND,
	.config_size = sizeof(struct rundelay),
	.defaults = analysis_defaults,
	.release = analysis_release,
	.run = run,
};
