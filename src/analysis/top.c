/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof top: sums of values by key.
 *
 *	sample -> key -> row: adds the sample's values -> at each interval: a sorted table
 */
#include "analysis/commands.h"
#include "analysis/profiles/hotspots.h"
#include "analysis/top_rows.h"
#include "report/screen.h"
#include "report/table.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BY_DEFAULT UINT64_MAX            /* -i was not given */
enum { TERMINAL_MS = 1000, LOOK_EVERY = 16384 };

struct top {
	struct analysis_opts common;
	const char *key;                 /* -k */
	bool only_comm;
	struct top_plan plan;
	struct top_rows rows;
	struct key_run run;              /* for samples */
	uint64_t no_value;               /* expressions without a value */
	int trouble;                     /* the reason of the last one */
	uint64_t from, last;             /* perf clock: the interval's beginning, the last sample */
	uint64_t delivered;              /* samples up to `from` */
	uint64_t seen;                   /* samples */
	struct table_column *columns;
	struct table table;
	bool printed;
	bool full_screen;                /* to be opened */
	struct screen_opts screen_opts;
	struct screen *screen;
};

/* ---- samples ------------------------------------------------------------------------ */

/* The name for tid -1, a task that has exited so far that it has no id any more. */
static const struct expr_value exiting = { .text = "[exiting]", .len = 9, .type = EXPR_TEXT };

/* The value of comm=, or the task if the key is one. Names of tasks are looked up when they are
 * shown; with --only-comm immediately, since they are the key. False: no name, or an error. */
static bool name_of(struct analysis *a, const struct top_part *part, const struct expr_value *key,
		    struct expr_value *name)
{
	struct top *t = a->config;

	if (part->comm) {
		int trouble = key_eval(part->comm, &t->run, name);

		if (trouble)
			t->trouble = trouble;
		return !trouble;
	}
	*name = *key;
	if (part->key_is_outer)
		name->s = stream_named(a->stream, (pid_t)key->s);
	else if (part->key_is_task && key->s == -1)
		*name = exiting;
	return part->key_is_task;
}

/* Names of tasks are looked up when rows are shown. By then a task may be gone for so long that its name is forgotten:
 * the row keeps the one that it had at its event number 1, 2, 4, 8 ... */
static void keep_name(struct analysis *a, struct top_row *row)
{
	const char *name;

	if (row->events & (row->events + 1))
		return;
	name = analysis_comm(a, row->task);
	top_row_name(row, name, strlen(name));
}

static void set_name(struct analysis *a, const struct top_part *part, struct top_row *row)
{
	struct expr_value name;

	row->task = -1;
	if (!name_of(a, part, &row->key, &name))
		top_row_name(row, "", 0);
	else if (name.type == EXPR_TEXT)
		top_row_name(row, name.text, name.len);
	else
		row->task = (pid_t)name.s;
	if (row->task >= 0)
		keep_name(a, row);
}

/* The key of a task outside of the PID namespace. Its process is not known. */
static void find_outside(const struct top *t, const struct top_part *part, struct expr_value *key)
{
	if (part->key_is_sampled && key->s == 0 && pidmap_is_outer(t->run.ctx.tid))
		key->s = part->key_is_thread ? t->run.ctx.tid : PIDMAP_OUTER;
}

static struct top_row *row_by_name(struct top *t, struct analysis *a, const struct top_part *part,
				   const struct expr_value *key)
{
	struct expr_value name;

	if (!name_of(a, part, key, &name))
		return NULL;
	if (name.type != EXPR_TEXT) {
		name.text = analysis_comm(a, (pid_t)name.s);
		name.len = (uint32_t)strlen(name.text);
		name.type = EXPR_TEXT;
	}
	return top_rows_get(&t->rows, part, &name);
}

static struct top_row *row_of(struct analysis *a, const struct top_part *part)
{
	struct top *t = a->config;
	struct expr_value key;
	struct top_row *row;
	int trouble = key_eval(part->key, &t->run, &key);

	if (trouble) {
		t->trouble = trouble;
		t->no_value++;
		return NULL;
	}
	find_outside(t, part, &key);
	if (t->only_comm)
		return row_by_name(t, a, part, &key);
	row = top_rows_get(&t->rows, part, &key);
	if (row && t->plan.named)
		set_name(a, part, row);
	return row;
}

/* Group members that are only counted have no samples: the leader's samples have their counts. */
static void add_counts(const struct top *t, struct top_row *row, const struct stream_counts *counts)
{
	for (size_t i = 0; counts && i < counts->n; i++) {
		const struct stream_event *event = counts->v[i].event;
		const struct top_part *part = event && event->opened.counted ? event->consumer : NULL;
		const struct expr_value v = { .u = counts->v[i].delta, .type = EXPR_U64 };

		for (size_t k = 0; part && k < part->nvalues; k++)
			if (!part->values[k].expr)
				top_row_add(row, part->values[k].column, &v,
					    t->plan.columns[part->values[k].column].is_unsigned);
	}
}

static void poll_keyboard(struct analysis *a);

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct top *t = a->config;
	const struct top_part *part = s->event->consumer;
	struct top_row *row;

	if (++t->seen % LOOK_EVERY == 0)   /* with very many samples, idle() is not called */
		poll_keyboard(a);
	t->last = s->time;
	t->from = t->from ? t->from : s->time;
	key_run_set(&t->run, a, s);
	row = row_of(a, part);
	if (!row)
		return;
	row->events++;
	row->time = s->time;
	for (size_t i = 0; i < part->nvalues; i++) {
		const struct top_value *value = &part->values[i];
		struct expr_value v = { .u = analysis_weight(s), .type = EXPR_U64 };
		int trouble = value->expr ? key_eval(value->expr, &t->run, &v) : 0;

		if (trouble) {
			t->trouble = trouble;
			t->no_value++;
		} else {
			top_row_add(row, value->column, &v, t->plan.columns[value->column].is_unsigned);
		}
	}
	add_counts(t, row, s->event->counts);
}

/* ---- the table ---------------------------------------------------------------------- */

/* Columns: key (not with --only-comm), values, name. */
static int make_columns(struct top *t, struct fault *f)
{
	const struct top_plan *plan = &t->plan;
	size_t n = 0;

	t->columns = calloc(plan->ncolumns + 2, sizeof(*t->columns));
	if (!t->columns)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (!t->only_comm)
		t->columns[n++] = (struct table_column){
			"key", plan->text_keys ? TABLE_TEXT : TABLE_INTEGER, .title = "KEY",
		};
	for (size_t i = 0; i < plan->ncolumns; i++)
		t->columns[n++] = (struct table_column){
			plan->columns[i].name, TABLE_INTEGER, .title = plan->columns[i].title,
		};
	if (t->only_comm || plan->named)
		t->columns[n++] = (struct table_column){ "name", TABLE_TEXT, .title = "NAME" };
	table_init(&t->table, "top", t->columns, n);
	t->screen_opts.sort = plan->columns[0].name;
	t->screen_opts.tie = t->only_comm ? "name" : "key";
	return 0;
}

/* A task outside of the PID namespace is shown with its id in the initial one, if that is known. False: it is not. */
static bool number_of(const struct top_row *row, struct expr_value *key)
{
	*key = row->key;
	if (!row->part->key_is_sampled || !pidmap_is_outer((pid_t)key->s))
		return true;
	key->s = pidmap_shown((pid_t)key->s);
	return key->s != 0;
}

static void put_key(struct top *t, const struct top_row *row)
{
	struct key_run run = { .run = { .text_size = FUNCTION_TEXT }, .ctx = t->run.ctx };
	struct expr_value key;
	const char *text;
	size_t len;

	if (!number_of(row, &key)) {
		table_none(&t->table);
		return;
	}
	run.ctx.time = row->time;
	run.run.ctx = &run.ctx;
	run.run.text = run.text;
	text = top_plan_print(row->part, &run, &key, &len);
	if (text)
		table_textn(&t->table, text, len);
	else if (key.type == EXPR_TEXT)
		table_textn(&t->table, key.text, key.len);
	else if (t->plan.text_keys)
		table_printf(&t->table, key.type == EXPR_U64 ? "%" PRIu64 : "%" PRId64, key.u);
	else if (key.type == EXPR_U64)
		table_unsigned(&t->table, key.u);
	else
		table_integer(&t->table, key.s);
}

static void put_name(struct top *t, struct analysis *a, const struct top_row *row)
{
	const char *name = t->only_comm || row->task < 0 ? row->name : analysis_comm(a, row->task);

	if (t->only_comm)
		table_textn(&t->table, row->key.text, row->key.len);
	else
		table_text(&t->table, row->task >= 0 && comms_is_unknown(name) ? row->name : name);
}

static void put_row(struct top *t, struct analysis *a, const struct top_row *row)
{
	table_row(&t->table);
	if (!t->only_comm)
		put_key(t, row);
	for (size_t i = 0; i < t->plan.ncolumns; i++)
		if (t->plan.columns[i].is_unsigned)
			table_unsigned(&t->table, (uint64_t)row->sums[i]);
		else
			table_integer(&t->table, row->sums[i]);
	if (t->only_comm || t->plan.named)
		put_name(t, a, row);
}

static void fill(struct top *t, struct analysis *a)
{
	table_clear(&t->table);
	t->run.ctx.a = a;
	for (struct top_row *row = groups_first(&t->rows.rows); row; row = groups_next(row))
		if (row->events)
			put_row(t, a, row);
	table_sort(&t->table, t->screen_opts.tie, false);
	table_sort(&t->table, t->screen_opts.sort, true);
}

/* ---- output ------------------------------------------------------------------------- */

/* The interval that ends now. */
struct span {
	char when[64];
	double seconds;
	uint64_t events, lost;
};

static void measure(struct analysis *a, uint64_t now, struct span *span)
{
	struct top *t = a->config;
	struct stream_totals totals;

	if (a->opts->stream.input && !stream_reached(a->stream) && t->last)
		now = t->last;
	stream_totals(a->stream, &totals);
	analysis_time_text(a, now, span->when, sizeof(span->when));
	span->seconds = (double)(now - t->from) / 1e9;
	span->events = totals.delivered - t->delivered;
	span->lost = totals.lost;
	t->from = now;
	t->delivered = totals.delivered;
}

static void print(struct analysis *a, const struct span *span)
{
	struct table_style style = { .terminal = analysis_terminal(a->opts), .max_rows = a->opts->rows, .all_by = "--rows 0" };
	struct top *t = a->config;

	if (a->opts->json) {
		table_extra(&t->table, "time", json_object_new_string(span->when));
		table_extra(&t->table, "seconds", json_object_new_double(span->seconds));
		table_extra(&t->table, "events", json_object_new_uint64(span->events));
		analysis_put_losses(a, &t->table);
	}
	table_caption(&t->table, "%s", span->when);
	analysis_put_table(a, &t->table, &style);
	t->printed = true;
}

static void show(struct analysis *a, const struct span *span)
{
	struct top *t = a->config;
	char head[256];

	snprintf(head, sizeof(head), "perf-prof top  %s  %.0f events/s  %zu rows  lost %" PRIu64, span->when,
		 span->seconds > 0 ? (double)span->events / span->seconds : 0, t->table.nrows, span->lost);
	screen_show(t->screen, &t->table, head);
	t->printed = true;
}

static void interval(struct analysis *a, uint64_t now)
{
	struct top *t = a->config;
	struct span span;

	measure(a, now, &span);
	if (!t->screen || !screen_is_paused(t->screen)) {
		fill(t, a);
		if (t->screen)
			show(a, &span);
		else
			print(a, &span);
	}
	top_rows_next(&t->rows);
}

static void poll_keyboard(struct analysis *a)
{
	struct top *t = a->config;

	if (t->screen && screen_poll(t->screen))
		stream_stop(a->stream);
}

/* Opens the screen after errors at the beginning of the run were printed. */
static void idle(struct analysis *a)
{
	struct top *t = a->config;

	if (t->full_screen && !stream_is_stopping(a->stream)) {
		t->full_screen = false;
		t->screen = screen_open(&t->screen_opts);
	}
	poll_keyboard(a);
}

static void abandon(struct analysis *a)
{
	screen_rescue();
}

static void tell(const struct top *t)
{
	if (t->rows.refused)
		fprintf(stderr, "perf-prof: top: %" PRIu64 " events are missing from the table, which has at "
			"most %d rows; use a key with fewer values, or a filter\n", t->rows.refused, TOP_MAX_ROWS);
	if (t->no_value)
		fprintf(stderr, "perf-prof: top: %" PRIu64 " values are not in the table: %s\n", t->no_value,
			expr_trouble_text(t->trouble));
}

/* On a screen, the last complete interval stays. As text, the incomplete one is printed, too. */
static int end(struct analysis *a, struct fault *f)
{
	struct top *t = a->config;

	if (!t->printed || (!t->screen && t->rows.rows.n))
		interval(a, analysis_now(a));
	screen_close(t->screen);
	t->screen = NULL;
	tell(t);
	return 0;
}

/* ---- the run ------------------------------------------------------------------------ */

static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	return top_plan_reads(a, event, ((const struct top *)a->config)->key);
}

static int begin(struct analysis *a, struct fault *f)
{
	struct top *t = a->config;

	if (top_plan_make(&t->plan, a, t->key, f))
		return -1;
	if (t->only_comm && !t->plan.named)
		return fault_usage(f, "top: --only-comm: the rows have no names: expected "
				   "comm=EXPR, such as comm=comm, or a key that is a task, such as "
				   "pid");
	t->rows.ncolumns = t->plan.ncolumns;
	t->from = a->opts->stream.input ? 0 : analysis_now(a);
	return make_columns(t, f);
}

static void release(struct analysis *a)
{
	struct top *t = a->config;

	screen_close(t->screen);
	t->screen = NULL;
	if (t->columns)
		table_free(&t->table);
	free(t->columns);
	top_rows_free(&t->rows);
	top_plan_free(&t->plan);
}

static const struct analysis_ops ops = {
	.name = "top", .instead = "for the hottest functions, as `perf top` shows them: `perf-prof profile`",
	.reads = reads, .begin = begin, .sample = sample, .interval = interval, .idle = idle,
	.abandon = abandon, .end = end, .release = release, .attrs = STREAM_ATTR_KEY | STREAM_ATTR_ROW,
};

/* No full screen with a command after --, which may use the terminal. */
static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct top *t = config;
	struct stream_opts *o = &t->common.stream;
	bool terminal = !o->output.path && !o->input && isatty(STDOUT_FILENO);

	if (o->interval_ms == BY_DEFAULT)
		o->interval_ms = terminal ? TERMINAL_MS : 0;
	t->full_screen = terminal && o->interval_ms && !t->common.json && !args->noperands && screen_is_possible();
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

static const struct opt top_opts[] = {
	{ "key", 'k', NULL, OPT_STRING, offsetof(struct top, key), "EXPR",
	  "Make a row for each value of this expression over the fields of the events, such as "
	  "_cpu<<16|vec, or _comm, the name of the task that ran. An event's attribute key= overrides it. "
	  "Default: the thread, _tid.", false, NULL },
	{ "only-comm", 0, NULL, OPT_FLAG, offsetof(struct top, only_comm), NULL,
	  "Make a row for each name instead of each key.", false, NULL },
	{ "rows", 0, NULL, OPT_CALL, offsetof(struct top, common.rows), "N",
	  "Print the N largest rows; 0: all. Default: all. JSON and the full screen have all.", false, hotspots_parse_rows },
};

static void defaults(void *config)
{
	struct stream_opts *o = config;

	analysis_defaults(config);
	o->interval_ms = BY_DEFAULT;
}

const struct command top_command = {
	.name = "top",
	.usual = "event key only-comm rows pids interval input",
	.summary = "count events, or sum their values, by thread or any other key",
	.usage = "-e EVENT[,EVENT...] [-k EXPR] [options] [[--] COMMAND [ARGUMENT...]]",
	.description = COMMAND_TEXT(
		"Which thread, device or function causes the most events? Counts events, or sums their values, by a key "
		"and prints a table with a row for each key, the largest first: every -i milliseconds, or "
		"without -i at the end.",
		"Attributes of an event choose its row and its columns: key=EXPR is the row (default: -k, or "
		"else the thread); top-by=EXPR and top-add=EXPR are values to sum, each in a column. Columns of "
		"top-by come first, and the table is sorted by the first one. Both may be repeated; without "
		"them, the column counts the events (for cycles and the like, the sum of the samples' periods; "
		"for a clock, ns). Columns are named by their expressions or by alias=; values with the same "
		"column name are summed in one column, even from different events.",
		"comm=EXPR names the row: text, or the id of a task, whose name is shown. If the key is a "
		"task (_tid, pid, next_pid, ...), its name is the default. printkey=EXPR formats the key, "
		"with an expression over `key` alone: printkey=printf(\"0x%x\",key).",
		"Functions: printf(FORMAT,...), ksymbol(ADDRESS), comm_get(PID), syscall_name(NR), "
		"exit_reason_str(REASON), ntohl(N), ntohs(N), strncmp(TEXT,TEXT,N).",
		"On a terminal it takes the full screen, and -i is 1000 by default. Keys: q quits, p pauses, "
		"1 to 9, < and > choose the column to sort by, r reverses the order, / shows only rows that "
		"contain a text, h shows help. The last table stays on the screen at the end. There is no full "
		"screen with a command after --, for recordings, with TERM=dumb and with --json."),
	OPT_GROUP_ROWS(
		ANALYSIS_EVENT_GROUPS,
		{ "Rows", top_opts, sizeof(top_opts) / sizeof(*top_opts), 0 },
		ANALYSIS_RUN_GROUPS,
		ANALYSIS_OUTPUT_GROUPS),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof top -e sched:sched_wakeup -k pid", "count wake-ups by the thread that is woken" },
		{ "perf-prof top -e 'sched:sched_stat_runtime//top-by=\"runtime/1000\"/alias=us/comm=comm/' --only-comm",
		  "sum CPU time by program, in us" },
		{ "perf-prof top -e 'raw_syscalls:sys_enter//key=id/comm=syscall_name(id)/' -i 1000",
		  "count system calls by name, each second" },
		{ "perf-prof top -e 'timer:hrtimer_start//key=function/comm=ksymbol(function)/printkey=printf(\"0x%x\",key)/'",
		  "count started timers by function" },
		{ "perf-prof top -I perf.data -e sched:sched_switch -k next_pid", "count the switches to each thread in a recording" },
		{ "perf-prof top -e 'block:block_rq_issue//key=dev/top-by=bytes/top-add=nr_sector/' -i 1000 --json",
		  "sum disk requests by device, as JSON" }),
	.mode = OPT_MODE_COMMAND,
	ANALYSIS_CONFIG(struct top, defaults),
	.run = run,
};
