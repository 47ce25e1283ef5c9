/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/sinks.h"

#include "base/escape.h"
#include "report/json.h"
#include "stream/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows above --than ------------------------------------------------------------------ */

static void print_meanwhile(struct analysis *a, const struct analysis_sample *s, const char *comm, void *ctx)
{
	const struct happening *h = ctx;
	struct question *q = a->config;

	if (!q->ops->between || q->ops->between(q, s, h))
		analysis_print(a, s);
}

static void print_json(struct question *q, const struct happening *h, const char *title)
{
	json_object *root = json_object_new_object();
	char when[64];

	json_line(root, json_put_text(root, "slow", q->ops->name) && json_put_text(root, "what", title) &&
		  json_put_text(root, "time", analysis_time_text(q->a, h->end.start, when, sizeof(when))) &&
		  json_put_unsigned(root, "start", h->end.start) && json_put_unsigned(root, "duration", h->end.duration) &&
		  (!q->ops->detail_json || q->ops->detail_json(q, h, root)), stdout);
}

/* name: of its row. */
static void print_slow(struct question *q, const struct happening *h, const char *name)
{
	char title[256], safe[4 * sizeof(title)], when[64];
	struct happening named = *h;

	named.comm = name;
	q->reported++;
	q->ops->title(q, &named, title, sizeof(title));
	if (q->common.json) {
		print_json(q, h, title);
		return;
	}
	escape_terminal(title, strlen(title), safe, sizeof(safe));   /* a task's name can have any bytes */
	printf("%s %s took %.3f us\n", analysis_time_text(q->a, h->end.start, when, sizeof(when)), safe,
	       (double)h->end.duration / 1000);
	if (q->ops->detail)
		q->ops->detail(q, h);
	if (q->history && !history_each(q->history, q->a, h->end.start, h->s->time, print_meanwhile, &named))
		printf("    (the first events are no longer kept)\n");
}

/* ---- rows of the table ------------------------------------------------------------------ */

static bool is_key(const struct question *q, const struct column *c)
{
	return c->places & COLUMN_KEY || (c->places & COLUMN_PER_INSTANCE && q->per_instance);
}

static bool has_comm(const struct question *q, const struct column *c)
{
	return c->places & COLUMN_COMM && q->per_instance && q->named;
}

/* Sets key[1] and following; key[0] is for the task. */
static void set_keys(const struct question *q, const struct happening *h, uint64_t key[DISTRIBUTION_KEYS])
{
	size_t n = 1;

	for (size_t i = 0; i < q->ops->ncolumns; i++)
		if (is_key(q, &q->ops->columns[i]) && n < DISTRIBUTION_KEYS)
			key[n++] = h->cells[i].number;
}

/* NULL: the table is full. */
static struct distribution *add_duration(struct question *q, const char *name, const uint64_t key[DISTRIBUTION_KEYS],
					 uint64_t duration, bool *fresh)
{
	struct distribution *d = distributions_get(&q->rows, key, fresh);

	if (!d)
		return NULL;
	if (strcmp(d->name, name))
		snprintf(d->name, sizeof(d->name), "%s", name);
	histogram_add(&d->durations, duration);
	if (q->hist)
		hist_add(&d->hist, duration);
	return d;
}

void rows_add(struct question *q, const struct happening *h)
{
	uint64_t key[DISTRIBUTION_KEYS] = { 0 };
	const char *name = h->comm ? h->comm : "";
	struct distribution *d;
	bool fresh;

	if (q->ops->tasks)
		key[0] = grouping_key(&q->grouping, q->a, h->tid, &name);
	set_keys(q, h, key);
	d = add_duration(q, name, key, h->end.duration, &fresh);
	if (!d)
		return;
	if (q->ops->added)
		q->ops->added(q, h, d);
	if (h->error)
		distribution_failed(d, h->error);
	if (q->heatmap)
		heatmap_add(q->heatmap, h->s->time, h->end.duration);
	if (q->than && h->end.duration > q->than)
		print_slow(q, h, d->name);
	if (fresh && q->ops->tasks)
		grouping_count(&q->grouping, &q->rows, h->tid);
}

void question_add_asleep(struct question *q, const char *comm, pid_t tid, uint64_t value)
{
	uint64_t now = analysis_end(q->a, q->last);
	const uint64_t key[DISTRIBUTION_KEYS] = { grouping_key(&q->grouping, q->a, tid, &comm), value };
	bool fresh;

	if (q->from && now > q->from && add_duration(q, comm, key, now - q->from, &fresh) && fresh)
		grouping_count(&q->grouping, &q->rows, tid);
}

void question_add_unfinished(struct question *q, const struct happening *h)
{
	uint64_t key[DISTRIBUTION_KEYS] = { 0 };
	const char *name = h->comm;
	bool fresh;

	key[0] = grouping_key(&q->grouping, q->a, h->tid, &name);
	set_keys(q, h, key);
	if (add_duration(q, name, key, h->end.duration, &fresh) && fresh)
		grouping_count(&q->grouping, &q->rows, h->tid);
}

/* ---- the table -------------------------------------------------------------------------- */

static const char *key_text(struct question *q, const struct column *c, uint64_t number, char *buf, size_t size)
{
	if (c->text)
		return c->text(q, number, buf, size);
	if (c->kind == COLUMN_UNSIGNED)
		snprintf(buf, size, "%llu", (unsigned long long)number);
	else
		snprintf(buf, size, "%lld", (long long)number);
	return buf;
}

static void put_cell(struct question *q, const struct column *c, uint64_t number, struct table *t)
{
	char text[256];

	if (c->text)
		table_text(t, c->text(q, number, text, sizeof(text)));
	else if (c->kind == COLUMN_UNSIGNED)
		table_unsigned(t, number);
	else if (c->kind == COLUMN_TASK)
		table_task(t, (pid_t)number);
	else
		table_integer(t, (int64_t)number);
}

static void put_row(void *ctx, const struct distribution *d, struct table *t)
{
	struct question *q = ctx;
	size_t n = 1;

	if (q->ops->tasks)
		grouping_put(d, t);
	for (size_t i = 0; i < q->ops->ncolumns; i++) {
		const struct column *c = &q->ops->columns[i];

		if (has_comm(q, c))
			table_text(t, d->name);
		else if (is_key(q, c) && n < DISTRIBUTION_KEYS)
			put_cell(q, c, d->key[n++], t);
		else if (c->places & COLUMN_ABOUT)
			put_cell(q, c, d->key[n - 1], t);
		else if (c->places & COLUMN_PER_INSTANCE)
			table_none(t);
	}
}

/* Text leaves out columns without values; JSON has all. */
static size_t own_columns(const struct question *q, struct table_column *columns)
{
	size_t n = 0;

	for (size_t i = 0; i < q->ops->ncolumns; i++) {
		const struct column *c = &q->ops->columns[i];
		const bool is_extra = c->places & COLUMN_PER_INSTANCE && !is_key(q, c);

		if (has_comm(q, c))
			columns[n++] = (struct table_column){ c->name, TABLE_TEXT };
		else if (c->places & (COLUMN_KEY | COLUMN_PER_INSTANCE | COLUMN_ABOUT))
			columns[n++] = (struct table_column){
				c->name, c->text ? TABLE_TEXT : TABLE_INTEGER, .title = c->title,
				.where = q->ops->tasks && is_extra ? TABLE_ONLY_JSON : TABLE_EVERYWHERE, .most = c->most,
			};
	}
	return n;
}

static struct json_object *counts(const struct question *q)
{
	json_object *root = json_object_new_object();

	if (json_put_unsigned(root, "open", q->pairs.nopen) &&
	    json_put_unsigned(root, "gone", q->pairs.gone) && json_put_unsigned(root, "restarted", q->pairs.restarted) &&
	    json_put_unsigned(root, "unbegun", q->pairs.unbegun) && json_put_unsigned(root, "told", q->reported))
		return root;
	json_object_put(root);
	return NULL;
}

/* ---- histograms ------------------------------------------------------------------------- */

/* "30504 worker START=>END": the row's own columns. */
static void row_name(struct question *q, const struct distribution *d, char *buf, size_t size)
{
	char number[256];
	size_t len = 0, n = 1;

	*buf = '\0';
	for (size_t i = 0; i < q->ops->ncolumns && len < size; i++) {
		const struct column *c = &q->ops->columns[i];
		const char *text = NULL;

		if (has_comm(q, c))
			text = d->name;
		else if (is_key(q, c) && n < DISTRIBUTION_KEYS)
			text = key_text(q, c, d->key[n++], number, sizeof(number));
		if (text)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " " : "", text);
	}
}

static void print_hists(struct question *q, FILE *out)
{
	enum { SHOWN_ROWS = 10, BESIDE = 41, WIDTH = 40, NARROW = 10 };
	const size_t columns = analysis_terminal(q->a->opts).columns;
	const size_t width = !columns || columns >= BESIDE + WIDTH ? WIDTH : columns > BESIDE + NARROW ? columns - BESIDE : NARROW;
	char name[512], safe[4 * sizeof(name)];
	size_t n = 0;

	distributions_sort(&q->rows);
	for (struct distribution *d = groups_first(&q->rows.rows); d; d = groups_next(d)) {
		if (!d->hist.n || n++ >= SHOWN_ROWS)
			continue;
		row_name(q, d, name, sizeof(name));
		escape_terminal(name, strlen(name), safe, sizeof(safe));
		fprintf(out, "\ndurations of %s\n", safe);
		hist_print(&d->hist, (unsigned int)width, out);
	}
	if (n > SHOWN_ROWS)
		fprintf(out, "... %zu more%s\n", n - SHOWN_ROWS, q->common.json ? "" : " (--json shows all)");
}

/* For --with-text. */
static void put_hists_text(struct question *q, struct table *t)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		print_hists(q, out);
		if (!fclose(out)) {
			table_below(t, text);
			return;
		}
	}
	free(text);
	t->lost = true;
}

static bool put_hist(struct question *q, struct distribution *d, struct json_object *all)
{
	struct json_object *one = json_object_new_object();
	char text[256];
	size_t n = 1;
	bool good = json_append(all, one);

	for (size_t i = 0; i < q->ops->ncolumns && good; i++) {
		const struct column *c = &q->ops->columns[i];

		if (has_comm(q, c))
			good = json_put_text(one, c->name, d->name);
		else if (is_key(q, c) && n < DISTRIBUTION_KEYS && c->text)
			good = json_put_text(one, c->name, c->text(q, d->key[n++], text, sizeof(text)));
		else if (is_key(q, c) && n < DISTRIBUTION_KEYS)
			good = json_put_unsigned(one, c->name, d->key[n++]);
	}
	return good && json_put(one, "buckets", hist_json(&d->hist));
}

static void put_hists(struct question *q, struct table *t)
{
	struct json_object *all = json_object_new_array();
	bool good = all;

	distributions_sort(&q->rows);
	for (struct distribution *d = groups_first(&q->rows.rows); d && good; d = groups_next(d))
		good = !d->hist.n || put_hist(q, d, all);
	if (good)
		table_extra(t, "histograms", all);
	else
		json_object_put(all);
}

static void put_more(void *ctx, struct table *t)
{
	struct question *q = ctx;

	if (q->ops->more)
		q->ops->more(q, t);
	if (q->hist)
		put_hists(q, t);
	if (q->hist && q->a->opts->with_text)
		put_hists_text(q, t);
}

static void put_last(void *ctx, const struct distribution *d, struct table *t)
{
	struct question *q = ctx;

	q->ops->put_last(q, d, t);
}

static void print_table(struct question *q, uint64_t now)
{
	static const enum shown usual[] = {
		SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX,
	};
	const struct csv_form form = { ',', q->csv_safe };
	struct table_column columns[GROUPING_COLUMNS + QUESTION_COLUMNS];
	struct distribution_view view = {
		.name = q->ops->name, .columns = columns, .shown = usual, .nshown = sizeof(usual) / sizeof(*usual),
		.ctx = q, .put = put_row, .more = put_more, .csv = q->csv ? &form : NULL, .titles = !q->has_titles,
		.share_title = q->ops->share_title,
		.whole = q->ops->whole ? q->ops->whole(q) : 0, .max_rows = (size_t)q->common.rows, .all_by = "--rows 0",
		.last = q->ops->last, .nlast = q->ops->nlast, .put_last = put_last, .cuts_last = true,
	};

	if (q->ops->tasks)
		grouping_columns(&q->grouping, columns);
	view.ncolumns = q->ops->tasks ? GROUPING_COLUMNS : 0;
	view.ncolumns += own_columns(q, columns + view.ncolumns);
	if (q->ops->shown) {
		view.shown = q->ops->shown;
		view.nshown = q->ops->nshown;
	}
	distributions_print(q->a, &q->rows, &view, q->from, now, q->common.json ? counts(q) : NULL);
	q->has_titles = true;
}

/* One start is remembered for each key, so a call within a call takes the place of the outer one. */
static bool is_nested(const struct question *q)
{
	enum { FEW = 5 };

	return !q->ops->durations && q->pairs.restarted >= FEW && q->pairs.unbegun == q->pairs.restarted;
}

/* Whether filters of -e leave out the start of a pair, or its end, and not the other. */
static bool is_partly_filtered(const struct question *q)
{
	for (size_t i = 1; i < q->ops->nevents; i++) {
		const char *first = q->events[0]->asked.filter, *other = q->events[i]->asked.filter;

		if (first != other && (!first || !other || strcmp(first, other)))
			return true;
	}
	return false;
}

/* "incomplete calls: 1 still running at the end, 1 already running at the start" */
static void print_incomplete(const struct question *q)
{
	const bool filtered = is_partly_filtered(q), named = q->ops->durations && !filtered;
	const struct {
		uint64_t n;
		const char *what;
	} all[] = {
		{ q->pairs.nopen, named ? "still running at the end" : filtered ? "starts without an end" : "still open at the end" },
		{ q->pairs.gone, "ended with their task" },
		{ q->pairs.unbegun, named ? "already running at the start" : "ends without a start" },
		{ q->pairs.restarted, named ? "begun again before their end" : "starts with another start before the end" },
	};
	size_t shown = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!all[i].n)
			continue;
		if (!shown++)
			printf("incomplete %s: ", q->ops->durations ? q->ops->durations : "pairs");
		else
			fputs(", ", stdout);
		printf("%llu %s", (unsigned long long)all[i].n, all[i].what);
	}
	fputs(!shown ? "" : filtered ? " (the filters of the events differ)\n" : "\n", stdout);
	if (is_nested(q))
		puts("calls within calls of the same key, such as a thread that recurses, are measured only at the innermost level");
}

/* A few may have come while the events were disabled: a small share is told only if durations show that events are missing. */
static void print_missing(const struct question *q)
{
	enum { FEW = 5, SHARE = 20 };
	uint64_t counted, missing = summary_missing(q->a->stream, &counted);

	if (missing < FEW || (missing < counted / SHARE && !(q->ops->if_missing && q->unknown)))
		return;
	if (q->ops->if_missing)
		printf("%llu of %llu events are missing: the kernel counted these events but did not deliver them (some kernels deliver no "
		       "events of idle CPUs): %s\n", (unsigned long long)missing, (unsigned long long)counted, q->ops->if_missing);
	else
		printf("%llu of %llu events, and their %s, are missing: the kernel counted these events but did not deliver them (some "
		       "kernels deliver no events of idle CPUs)\n", (unsigned long long)missing, (unsigned long long)counted,
		       q->ops->durations ? q->ops->durations : "pairs");
}

uint64_t rows_unknown(const struct question *q)
{
	return q->ops->states ? q->pairs.restarted + q->pairs.unbegun : 0;
}

static void print_unknown(const struct question *q, uint64_t unknown)
{
	if (q->ops->durations)
		printf("%s whose end was not seen are not in the table: %llu%s\n", q->ops->durations, (unsigned long long)unknown,
		       q->ops->if_unseen ? q->ops->if_unseen : "");
	else
		printf("not counted: %llu period%s whose beginning or end the kernel did not report\n",
		       (unsigned long long)unknown, unknown == 1 ? "" : "s");
}

static void print_counts(const struct question *q)
{
	const struct pairs *p = &q->pairs;
	const uint64_t unknown = rows_unknown(q);

	if (q->grouping.news)
		printf("more than %d tasks: those with the same name share a row; --by task shows each\n", GROUPING_TASKS);
	if (unknown)
		print_unknown(q, unknown);
	if (!q->ops->states && !q->ops->own_table)
		print_incomplete(q);
	if (q->ending && (q->ops->if_missing || !unknown))
		print_missing(q);
	if (q->ending && question_lacks_than(q))
		printf("-g needs --than TIME: it prints the stacks of longer %s%s\n",
		       q->ops->durations ? q->ops->durations : "durations", q->ops->or_stacks ? q->ops->or_stacks : "");
	if (p->refused)
		fprintf(stderr, "perf-prof: %s: left out %llu durations: at most %d can be measured at once\n", q->ops->name,
			(unsigned long long)p->refused, PAIRS_MAX_OPEN);
}

void rows_print(struct question *q)
{
	uint64_t now = analysis_end(q->a, q->last);

	if (!q->from)
		q->from = now;
	q->unknown += q->pairs.restarted + q->pairs.unbegun;
	if (!q->ops->own_table)
		print_table(q, now);
	if (!q->common.json && !q->csv)
		print_counts(q);
	if (q->hist && !q->common.json && !q->csv)
		print_hists(q, stdout);
	distributions_clear(&q->rows);
	grouping_next(&q->grouping);
	q->pairs.restarted = q->pairs.unbegun = q->pairs.refused = q->reported = 0;
	q->from = now;
}

int rows_draw(struct question *q, struct fault *f)
{
	char text[64];
	const struct heatmap_title title = { text, "ns" };

	if (!q->heatmap)
		return 0;
	if (analysis_may_draw(q->a, q->heatmap_opts.path, f))
		return -1;
	snprintf(text, sizeof(text), "perf-prof %s", q->ops->name);
	return heatmap_write(&q->heatmap_opts, q->heatmap, &title, f);
}
