/* SPDX-License-Identifier: Apache-2.0 */
/* top as a source: sums over a tracepoint's events by key, emitted at the end of each interval, the largest first. */
#include "analysis/commands.h"
#include "analysis/top_rows.h"
#include "engine/keys.h"
#include "engine/tapped.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)
enum { DEFAULT_MS = 1000 };

/* The expressions. */
enum part { KEY, BY, COMM, PARTS };
static const char *const option_of[PARTS] = { "-k", "--by", "--comm" };

struct top_source {
	struct stream_opts stream;
	const char *tap;                 /* --of */
	const char *text[PARTS];         /* NULL: not given */
	uint64_t interval_ms, told;      /* told: --rows; 0: all */
	struct maker *maker;
	const struct stream_event *event;
	struct tapped of;
	struct expr *expr[PARTS];
	struct top_rows rows;
	uint64_t interval;               /* ns */
	uint64_t from, last;             /* the interval's beginning, the newest sample; 0: no sample yet */
};

struct made_row {
	struct made_head head;
	char comm[32];
	uint64_t key;
	int64_t value;
	uint64_t events;
	uint32_t rank, rows;
	uint64_t start, duration;
};

static const struct made_field fields[] = {
	MADE_FIELD(struct made_row, comm, "char comm[32]", false),
	MADE_FIELD(struct made_row, key, "u64 key", false),
	MADE_FIELD(struct made_row, value, "s64 value", true),
	MADE_FIELD(struct made_row, events, "u64 events", false),
	MADE_FIELD(struct made_row, rank, "u32 rank", false),
	MADE_FIELD(struct made_row, rows, "u32 rows", false),
	MADE_FIELD(struct made_row, start, "u64 start", false),
	MADE_FIELD(struct made_row, duration, "u64 duration", false),
};

/* ---- the end of an interval ------------------------------------------------------------- */

/* The largest first; equal ones by key. Rows without events in this interval are the last. */
static int compare(const void *x_, const void *y_)
{
	const struct top_row *x = x_, *y = y_;
	uint64_t kx = key_number(&x->key), ky = key_number(&y->key);

	if (!x->events != !y->events)
		return x->events ? -1 : 1;
	if (x->sums[0] != y->sums[0])
		return x->sums[0] < y->sums[0] ? 1 : -1;
	return kx < ky ? -1 : kx > ky;
}

static void emit(struct top_source *src, const struct top_row *row, size_t rank, size_t rows, uint64_t end)
{
	struct made_row *e = maker_fields(src->maker);
	const char *comm = row->name ? row->name : "";

	if (row->key.type == EXPR_TEXT && !src->text[COMM])
		snprintf(e->comm, sizeof(e->comm), "%.*s", (int)row->key.len, row->key.text);
	else
		snprintf(e->comm, sizeof(e->comm), "%s", comm);
	e->key = key_is_thread(src->text[KEY]) ? (uint64_t)pidmap_shown((pid_t)row->key.s) : key_number(&row->key);
	e->value = row->sums[0];
	e->events = row->events;
	e->rank = (uint32_t)rank + 1;
	e->rows = (uint32_t)rows;
	e->start = src->from;
	e->duration = end - src->from;
	maker_emit(src->maker, src->last, 0, 0);   /* no task */
}

static void tell(struct top_source *src, uint64_t end)
{
	const struct top_row *row;
	size_t n = 0, rank = 0;

	for (row = groups_first(&src->rows.rows); row; row = groups_next(row))
		n += row->events > 0;
	groups_sort(&src->rows.rows, compare);
	for (row = groups_first(&src->rows.rows); rank < n && (!src->told || rank < src->told); row = groups_next(row))
		emit(src, row, rank++, n, end);
	top_rows_next(&src->rows);
}

/* ---- samples ---------------------------------------------------------------------------- */

static bool value_of(struct top_source *src, enum part part, const struct analysis_sample *s, struct expr_value *v)
{
	struct key_run run;

	key_run_set(&run, NULL, s);
	return !key_eval(src->expr[part], &run, v);
}

static void add(struct top_source *src, const struct analysis_sample *s)
{
	struct expr_value key, comm, by = { .u = analysis_weight(s), .type = EXPR_U64 };
	struct top_row *row;

	if (!value_of(src, KEY, s, &key))
		return;
	if (key_is_thread(src->text[KEY]))
		key.s = s->tid;   /* also for tasks outside of the PID namespace */
	if ((src->expr[BY] && !value_of(src, BY, s, &by)))
		return;
	row = top_rows_get(&src->rows, NULL, &key);
	if (!row)
		return;
	row->events++;
	top_row_add(row, 0, &by, false);
	if (src->expr[COMM] && value_of(src, COMM, s, &comm) && comm.type == EXPR_TEXT)
		top_row_name(row, comm.text, comm.len);
}

static void sample(void *state, struct maker *m, const struct stream_event *event,
		   const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct top_source *src = state;
	const struct analysis_sample s = analysis_sample_of(event, rec, raw, raw_size, cpu);

	if (!src->from)
		src->from = s.time;
	src->last = s.time > src->last ? s.time : src->last;
	if (src->last - src->from >= src->interval) {
		tell(src, src->from + src->interval);
		src->from += (src->last - src->from) / src->interval * src->interval;
	}
	add(src, &s);
}

/* Emits the rows of the last, incomplete interval. */
static void end(void *state, struct maker *m)
{
	struct top_source *src = state;

	if (src->from)
		tell(src, src->last);
}

/* ---- the source in -e --------------------------------------------------------------------- */

static int compile(struct top_source *src, enum part p, struct fault *f)
{
	const char *name = src->event->name, *text = src->text[p];

	if (!text)
		return 0;
	if (key_compile(NULL, &src->expr[p], src->event, text, option_of[p], f))
		return -1;
	if (p == BY && expr_type(src->expr[p]) == EXPR_TEXT)
		return key_fault(f, option_of[p], text, name, 0, "this is text", "a number to sum");
	if (p == COMM && expr_type(src->expr[p]) != EXPR_TEXT)
		return key_fault(f, option_of[p], text, name, 0, "this is a number", "a field that is text");
	return 0;
}

static int begin(void *state, struct maker *m, struct fault *f)
{
	struct top_source *src = state;
	int rc = 0;

	src->maker = m;
	src->event = maker_event(m, src->of.sys, src->of.name);
	for (enum part p = 0; p < PARTS && !rc; p++)
		rc = compile(src, p, f);
	return rc;
}

static void release(void *state)
{
	struct top_source *src = state;

	for (enum part p = 0; p < PARTS; p++)
		expr_free(src->expr[p]);
	top_rows_free(&src->rows);
	tapped_free(&src->of);
}

static const struct maker_ops ops = { .begin = begin, .sample = sample, .end = end, .free = release };

static int set(struct top_source *src, struct fault *f)
{
	if (src->interval_ms > UINT64_MAX / MS)
		return fault_usage(f, "top: -i %llu: expected at most %llu milliseconds",
				   (unsigned long long)src->interval_ms, (unsigned long long)(UINT64_MAX / MS));
	if (!src->text[KEY])
		src->text[KEY] = "_tid";
	if (!src->text[COMM] && key_is_thread(src->text[KEY]))
		src->text[COMM] = "_comm";
	src->interval = (src->interval_ms ? src->interval_ms : DEFAULT_MS) * MS;
	src->rows.ncolumns = 1;
	return tapped_set(&src->of, "top", "--of", src->tap, "top/--of sched:sched_wakeup -k pid/", f);
}

static int events(struct source *source, void *config, struct fault *f)
{
	struct top_source *src = config;
	struct source_made made = {
		.fields = fields, .nfields = sizeof(fields) / sizeof(*fields),
		.print = "\"%u of %u: key %llu %s: %lld in %llu events\", REC->rank, REC->rows, REC->key, REC->comm, "
			 "REC->value, REC->events",
		.size = sizeof(struct made_row), .ops = &ops, .state = src,
		.order = true,   /* an interval ends at the same time for all CPUs */
	};
	struct maker *m = source_make(source, &made, f);

	return !m || set(src, f) || source_watch(m, src->of.sys, src->of.name, false, f) ? -1 : 0;
}

#define AT(member) offsetof(struct top_source, member)

static const struct opt rows_opts[] = {
	{ "of", 0, NULL, OPT_STRING, AT(tap), "EVENT", "Sum the events of this tracepoint.", false, NULL },
	{ "key", 'k', NULL, OPT_STRING, AT(text[KEY]), "EXPR",
	  "Make a row for each value of this expression over its fields. Default: the thread, _tid.", false, NULL },
	{ "by", 0, NULL, OPT_STRING, AT(text[BY]), "EXPR", "Sum this expression. Default: count the events.", false, NULL },
	{ "comm", 0, NULL, OPT_STRING, AT(text[COMM]), "FIELD", "Name the rows by this text, such as a field. Default with the key _tid: _comm.", false, NULL },
	{ "interval", 'i', NULL, OPT_U64, AT(interval_ms), "MS", "Emit rows every MS milliseconds (default 1000).",
	  false, NULL },
	{ "rows", 0, NULL, OPT_U64, AT(told), "N", "Emit only the N largest rows.", false, NULL },
};

const struct source_ops top_source = {
	.name = "top",
	.summary = "sums of a tracepoint's values by key, each interval",
	.makes = true,
	OPT_GROUP_ROWS(
		{ "Rows", rows_opts, sizeof(rows_opts) / sizeof(*rows_opts), 0 },
		{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 }),
	.config_size = sizeof(struct top_source),
	.events = events,
};
