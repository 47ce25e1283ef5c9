/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof syscalls: how long system calls take, and how they fail.
 *
 * A return says which call it is of. What the call's beginning says beside its time (number and arguments) is
 * more than half of all bytes, and is sampled for --than alone. Without it, a call during which its CPU lost
 * events may be two, the first one's beginning and the other one's end: it isn't counted.
 */
#include "analysis/durations/commands.h"
#include "analysis/durations/gaps.h"
#include "analysis/durations/pairs.h"
#include "engine/callnames.h"
#include "report/json.h"

#include <string.h>

struct syscalls {
	struct pair_opts opts;
	struct pairs pairs;
	struct distributions errors;     /* by call and errno: the time that failed calls took */
	const struct stream_event *enter, *leave;
	const struct trace_field *enter_id, *leave_id, *ret;   /* enter_id: NULL where it isn't sampled */
	struct gaps gaps;
};

enum { MAX_ERRNO = 4095 };

/* ---- the tables --------------------------------------------------------------------- */

/* A row: task, or tasks, and call. */
static void put(struct analysis *a, const struct distribution *d, struct table *t)
{
	char call[64];

	grouping_put(d, t);
	table_text(t, call_name((int64_t)d->key[1], call, sizeof(call)));
}

static const struct table_column columns[] = {
	GROUPING_COLUMNS, { "call", TABLE_TEXT },
};
static const enum shown shown[] = {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX, SHOW_ERRORS,
};
static const struct distribution_view view = {
	"syscalls", columns, sizeof(columns) / sizeof(*columns), shown, sizeof(shown) / sizeof(*shown), put,
};

static void put_error(struct analysis *a, const struct distribution *d, struct table *t)
{
	char call[64], error[32];

	table_text(t, call_name((int64_t)d->key[0], call, sizeof(call)));
	table_text(t, error_name((int)d->key[1], error, sizeof(error)));
}

static const struct table_column error_columns[] = {
	{ "call", TABLE_TEXT }, { "error", TABLE_TEXT },
};
static const enum shown error_shown[] = { SHOW_CALLS, SHOW_TOTAL, SHOW_MAX };
static const struct distribution_view error_view = {
	"errors", error_columns, sizeof(error_columns) / sizeof(*error_columns), error_shown,
	sizeof(error_shown) / sizeof(*error_shown), put_error,
};

static void title(struct analysis *a, const struct distribution *d, uint64_t key, char *buf, size_t size)
{
	char call[64];

	snprintf(buf, size, "%s %d %s", d->name, pidmap_shown((pid_t)key),
		 call_name((int64_t)d->key[1], call, sizeof(call)));
}

static bool between(struct analysis *a, const struct analysis_sample *s, uint64_t key, uint32_t cpu)
{
	return (uint64_t)s->tid == key;
}

static const struct pair_ops pair_ops = {
	.view = &view, .title = title, .between = between, .history = true,
};

/* ---- samples ------------------------------------------------------------------------ */

static void count_error(struct syscalls *c, const struct pair_end *end, int64_t ret)
{
	bool fresh;
	struct distribution *d = distributions_get(&c->errors, end->value, (uint64_t)-ret, &fresh);

	if (d)
		histogram_add(&d->durations, end->duration);
}

/* By what an end is compared with the beginning of its call: the call's number, if that is sampled, else the CPU. */
static uint64_t beginning(const struct syscalls *c, const struct analysis_sample *s)
{
	return c->enter_id ? (uint64_t)trace_field_sint(c->enter_id, s->view.raw) : s->cpu;
}

/* Whether an end belongs to the last beginning that was seen. */
static bool belongs(const struct syscalls *c, const struct analysis_sample *s, const struct pair_end *end, int64_t id)
{
	if (c->enter_id)
		return (int64_t)end->value == id;
	return !gaps_since(&c->gaps, end->value, end->start) && !gaps_since(&c->gaps, s->cpu, end->start);
}

static void leave(struct analysis *a, const struct analysis_sample *s)
{
	struct syscalls *c = a->config;
	int64_t id = syscall_left(trace_field_sint(c->leave_id, s->view.raw)), ret = trace_field_sint(c->ret, s->view.raw);
	const char *comm = analysis_comm(a, s->tid, s->time);
	struct distribution *d;
	struct pair_end end;

	if (!pairs_end(&c->pairs, s, (uint64_t)s->tid, &end))
		return;
	if (!belongs(c, s, &end, id)) {
		c->pairs.unbegun++;
		return;
	}
	end.value = (uint64_t)id;
	d = pairs_add_task(&c->pairs, s, &end, comm, s->tid, end.value);
	if (ret >= 0 || ret < -MAX_ERRNO)
		return;
	if (d)
		d->errors++;
	count_error(c, &end, ret);
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct syscalls *c = a->config;

	pairs_see(&c->pairs, s);
	if (s->event == c->enter)
		pairs_start(&c->pairs, s, (uint64_t)s->tid, beginning(c, s));
	else if (s->event == c->leave)
		leave(a, s);
}

static int events(struct analysis *a, struct fault *f)
{
	a->opts->stream.order = true;   /* a call may return on another CPU */
	return analysis_add_event(a, f, "raw_syscalls:sys_enter,raw_syscalls:sys_exit");
}

static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	return pairs_read(a, event == analysis_event(a, "raw_syscalls", "sys_enter") ? 0 : PERF_SAMPLE_RAW);
}

static void lost(struct analysis *a, const struct stream_loss *loss)
{
	gaps_add(&((struct syscalls *)a->config)->gaps, loss);
}

static int begin(struct analysis *a, struct fault *f)
{
	struct syscalls *c = a->config;
	const struct stream_opts *o = &a->opts->stream;

	c->enter = analysis_event(a, "raw_syscalls", "sys_enter");
	c->leave = analysis_event(a, "raw_syscalls", "sys_exit");
	if (!c->enter || !c->leave)
		return analysis_lacks(a, "raw_syscalls", c->enter ? "sys_exit" : "sys_enter", f);
	c->enter_id = analysis_field(c->enter, "id", false, f);
	c->leave_id = c->enter_id ? analysis_field(c->leave, "id", false, f) : NULL;
	c->ret = c->leave_id ? analysis_field(c->leave, "ret", false, f) : NULL;
	if (!c->enter->layout.raw)
		c->enter_id = NULL;
	if (!c->ret || pairs_begin(&c->pairs, a, &pair_ops, f))
		return -1;
	pairs_group(&c->pairs, o->pids.n || o->tids.n ? BY_TASK : BY_COMM);
	return 0;
}

static void interval(struct analysis *a)
{
	struct syscalls *c = a->config;
	uint64_t from = c->pairs.from;

	pairs_print(&c->pairs);
	if (c->errors.rows)
		distributions_print(a, &c->errors, &error_view, from, c->pairs.from, NULL);
	distributions_clear(&c->errors);
}

static int end(struct analysis *a, struct fault *f)
{
	interval(a);
	return pairs_picture(&((struct syscalls *)a->config)->pairs, f);
}

static void release(struct analysis *a)
{
	struct syscalls *c = a->config;

	pairs_free(&c->pairs);
	distributions_clear(&c->errors);
	gaps_free(&c->gaps);
}

static const struct analysis_ops ops = {
	.name = "syscalls", .events = events, .reads = reads, .begin = begin, .sample = sample, .lost = lost,
	.interval = interval, .end = end, .release = release, .chains_of_users = true,
	.attrs = STREAM_ATTR_STACK,
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

static const struct opt_group groups[] = {
	{ "Durations", pair_opts_rows, PAIR_NOPTS, 0 },
	{ "Rows", pair_by_opts, PAIR_BY_NOPTS, 0 },
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
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
	"Which system calls take the time, and which fail? A row for each thread and call; without a "
	"target, threads of one name share a row (--by task: each has its own). Errors are counted, and "
	"listed by errno in a second table.",
	"--than prints each call that took longer, when it returns; with -g, also the stack that "
	"made it.",
	"--heatmap draws all calls as a picture: when they returned, and how long they took.",
	"Calls that began before perf-prof, or did not return before its end, are reported as not "
	"paired. Events are raw_syscalls:sys_enter and sys_exit; use -e to filter them, such as -e "
	"'raw_syscalls:sys_enter/id==0/,raw_syscalls:sys_exit/id==0/'.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof syscalls -p 1234 -i 1000", "of a process, each second" },
	{ "perf-prof syscalls --than 100ms -g", "calls that take longer than 100 ms, and where from" },
	{ "perf-prof syscalls -- ls -R /usr/lib", "of a command" },
	{ "perf-prof syscalls -p 1234 --heatmap calls.html", "when calls were slow, as a picture" },
	{ NULL, NULL },
};

const struct command syscalls_command = {
	.name = "syscalls",
	.summary = "measure how long system calls take, and count their errors",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.examples = examples,
	.mode = OPT_MODE_COMMAND,
	.config_size = sizeof(struct syscalls),
	.defaults = analysis_defaults,
	.release = analysis_release,
	.run = run,
};
