/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/distributions.h"

#include "engine/callnames.h"
#include "report/json.h"

#include <stdlib.h>
#include <string.h>

static const struct buckets times = { .kind = BUCKETS_TIMES };

void hist_add(struct groups *hist, uint64_t ns)
{
	struct hist_bucket *b;
	uint64_t low, high;

	bucket_of(&times, ns, &low, &high);
	b = groups_get(hist, &low, sizeof(low), sizeof(*b), UINT32_MAX);
	if (b)
		b->n++;
}

static int by_low(const void *a, const void *b)
{
	const struct hist_bucket *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* "512 us"; "": there is no end. */
static const char *border(uint64_t ns, bool is_end, char *buf, size_t size)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t unit = 0;

	for (; ns >= 1000 && unit < 3; unit++)
		ns /= 1000;
	if (ns || !is_end)
		snprintf(buf, size, "%u %s", (unsigned int)ns, units[unit]);
	return ns || !is_end ? buf : "";
}

static void print_bucket(uint64_t low, uint64_t high, uint64_t n, uint64_t all, uint64_t most, unsigned int width, FILE *out)
{
	const uint64_t bar = (n * width + most - 1) / most;   /* what happened at all has one */
	char from[32], to[32];

	fprintf(out, "%6s - %-6s  %9llu  %6.2f  |", border(low, false, from, sizeof(from)), border(high + 1, true, to, sizeof(to)),
		(unsigned long long)n, 100 * (double)n / (double)all);
	for (unsigned int i = 0; i < width; i++)
		fputc(i < bar ? '#' : ' ', out);
	fputs("|\n", out);
}

void hist_print(struct groups *hist, unsigned int width, FILE *out)
{
	uint64_t all = 0, most = 0, low, high = 0;

	groups_sort(hist, by_low);
	for (const struct hist_bucket *b = groups_first(hist); b; b = groups_next(b)) {
		all += b->n;
		most = most > b->n ? most : b->n;
	}
	if (!all)
		return;
	fputs("from   - to            calls  %calls\n", out);
	for (const struct hist_bucket *b = groups_first(hist); b; b = groups_next(b)) {
		for (low = high + !!high; low && low < b->low; low = high + 1) {
			bucket_of(&times, low, &low, &high);
			print_bucket(low, high, 0, all, most, width, out);
		}
		bucket_of(&times, b->low, &low, &high);
		print_bucket(low, high, b->n, all, most, width, out);
	}
}

struct json_object *hist_json(struct groups *hist)
{
	struct json_object *all = json_object_new_array();
	bool good = all;
	uint64_t low, high;

	groups_sort(hist, by_low);
	for (const struct hist_bucket *b = groups_first(hist); b && good; b = groups_next(b)) {
		struct json_object *one = json_object_new_object();

		bucket_of(&times, b->low, &low, &high);
		good = json_append(all, one) && json_put_unsigned(one, "from", low) &&
		       (high == UINT64_MAX || json_put_unsigned(one, "to", high + 1)) && json_put_unsigned(one, "calls", b->n);
	}
	return json_whole(all, good);
}

enum { MAX_ROWS = 65536, MAX_COLUMNS = 32 };

struct distribution *distributions_get(struct distributions *all, const uint64_t key[DISTRIBUTION_KEYS], bool *fresh)
{
	const uint32_t n = all->rows.n;
	struct distribution *d = groups_get(&all->rows, key, sizeof(d->key), sizeof(*d), MAX_ROWS);

	*fresh = all->rows.n > n;
	all->refused += !d;
	return d;
}

static int by_total(const void *a_, const void *b_)
{
	const struct distribution *a = a_, *b = b_;

	return (a->durations.sum < b->durations.sum) - (a->durations.sum > b->durations.sum);
}

void distributions_sort(struct distributions *all)
{
	groups_sort(&all->rows, by_total);
}

void distributions_clear(struct distributions *all)
{
	for (struct distribution *d = groups_first(&all->rows); d; d = groups_next(d)) {
		histogram_free(&d->durations);
		groups_free(&d->errnos);
		groups_free(&d->hist);
	}
	groups_free(&all->rows);
}

static void add_errno(struct distribution *d, uint64_t error, uint64_t n)
{
	struct row_errno *one = groups_get(&d->errnos, &error, sizeof(error), sizeof(*one), UINT32_MAX);

	if (one)
		one->n += n;
}

void distribution_failed(struct distribution *d, int error)
{
	d->errors++;
	add_errno(d, (uint64_t)error, 1);
}

void distribution_add_failed(struct distribution *d, const struct distribution *from)
{
	d->errors += from->errors;
	for (const struct row_errno *one = groups_first(&from->errnos); one; one = groups_next(one))
		add_errno(d, one->error, one->n);
}

/* ---- the table ------------------------------------------------------------------------ */

static const struct table_column shown_columns[SHOWN] = {
	[SHOW_CALLS] = { "calls", TABLE_INTEGER },
	[SHOW_TOTAL] = { "total", TABLE_DURATION },
	[SHOW_MIN] = { "min", TABLE_DURATION, .spare = 3 },
	[SHOW_MEAN] = { "mean", TABLE_DURATION, .spare = 2 },
	[SHOW_P50] = { "p50", TABLE_DURATION, .spare = 4 },
	[SHOW_P95] = { "p95", TABLE_DURATION, .spare = 1 },
	[SHOW_P99] = { "p99", TABLE_DURATION, .spare = 5 },
	[SHOW_MAX] = { "max", TABLE_DURATION },
	[SHOW_SHARE] = { "share", TABLE_PERCENT, .title = "%total" },
	[SHOW_ERRORS] = { "errors", TABLE_INTEGER, .title = "err" },
	[SHOW_ERRNOS] = { "errnos", TABLE_TEXT },
};

struct numbers {
	uint64_t v[SHOWN];
	double share;
};

static void compute(const struct distribution *d, uint64_t all, struct numbers *n)
{
	static const double p[] = { 0.5, 0.95, 0.99 };
	const struct histogram *h = &d->durations;

	histogram_quantiles(h, p, 3, &n->v[SHOW_P50]);
	n->v[SHOW_CALLS] = h->count;
	n->v[SHOW_TOTAL] = h->sum;
	n->v[SHOW_MIN] = h->min;
	n->v[SHOW_MEAN] = (uint64_t)(histogram_mean(h) + 0.5);
	n->v[SHOW_MAX] = h->max;
	n->v[SHOW_ERRORS] = d->errors;
	n->share = all ? 100.0 * (double)h->sum / (double)all : 0;
}

_Static_assert(SHOW_P95 == SHOW_P50 + 1 && SHOW_P99 == SHOW_P50 + 2, "in one pass");

static int by_count(const void *a, const void *b)
{
	const struct row_errno *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : (x->error > y->error) - (x->error < y->error);
}

/* Most frequent first. */
static void put_errnos(struct table *t, struct distribution *d)
{
	char text[1024], name[32];
	struct row_errno *one;
	size_t used = 0;

	groups_sort(&d->errnos, by_count);
	for (one = groups_first(&d->errnos); one && used < sizeof(text) - 64; one = groups_next(one))
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%llu", used ? " " : "",
					 error_name((int)one->error, name, sizeof(name)), (unsigned long long)one->n);
	if (one)
		snprintf(text + used, sizeof(text) - used, " ...");
	if (used)
		table_text(t, text);
	else
		table_none(t);
}

static bool is_shown(const struct distribution_view *view, enum shown column)
{
	return column != SHOW_ERRNOS || view->csv;
}

static void put_row(struct table *t, struct distribution *d, const struct distribution_view *view, uint64_t all)
{
	struct numbers n;

	compute(d, all, &n);
	table_row(t);
	view->put(view->ctx, d, t);
	for (size_t i = 0; i < view->nshown; i++) {
		if (!is_shown(view, view->shown[i]))
			continue;
		if (view->shown[i] == SHOW_SHARE)
			table_number(t, n.share);
		else if (view->shown[i] == SHOW_ERRNOS)
			put_errnos(t, d);
		else
			table_unsigned(t, n.v[view->shown[i]]);
	}
	if (view->nlast)
		view->put_last(view->ctx, d, t);
}

static void put_extra(struct analysis *a, struct table *t, const char *time, uint64_t from, uint64_t to,
		      struct json_object *extra)
{
	table_extra(t, "time", json_object_new_string(time));
	table_extra(t, "seconds", json_object_new_double((double)(to - from) / 1e9));
	analysis_put_losses(a, t);
	if (extra)
		table_extra(t, "counts", extra);
}

static void fill(struct table *t, const struct distributions *all, const struct distribution_view *view)
{
	uint64_t sum = view->whole;

	for (struct distribution *d = groups_first(&all->rows); d && !view->share_title; d = groups_next(d))
		sum += d->durations.sum;
	for (struct distribution *d = groups_first(&all->rows); d; d = groups_next(d))
		put_row(t, d, view, sum);
}

static void print(struct analysis *a, struct table *t, const struct distribution_view *view, uint64_t from, uint64_t to,
		  struct json_object *extra)
{
	struct table_style style = { .terminal = analysis_terminal(a->opts), .max_rows = view->max_rows, .all_by = view->all_by };
	char time[64];

	analysis_time_text(a, to, time, sizeof(time));
	if (view->csv) {
		if (table_csv(t, time, view->titles, *view->csv, stdout))
			fprintf(stderr, "perf-prof: %s: out of memory for the table\n", view->name);
		return;
	}
	if (a->opts->json)
		put_extra(a, t, time, from, to, extra);
	if (a->opts->json && view->more)
		view->more(view->ctx, t);
	table_caption(t, "%s", time);
	analysis_put_table(a, t, &style);
}

void distributions_print(struct analysis *a, struct distributions *all,
			 const struct distribution_view *view, uint64_t from, uint64_t to,
			 struct json_object *extra)
{
	struct table_column columns[MAX_COLUMNS];
	size_t n = 0;
	struct table t;

	for (size_t i = 0; i < view->ncolumns && n < MAX_COLUMNS; i++)
		columns[n++] = view->columns[i];
	for (size_t i = 0; i < view->nshown && n < MAX_COLUMNS; i++) {
		if (!is_shown(view, view->shown[i]))
			continue;
		columns[n] = shown_columns[view->shown[i]];
		if (view->nlast && !view->cuts_last && columns[n].kind == TABLE_DURATION)
			columns[n].spare = (unsigned int)(view->nshown - i);
		n++;
	}
	for (size_t i = 0; i < view->nlast && n < MAX_COLUMNS; i++)
		columns[n++] = view->last[i];
	for (size_t i = 0; i < n; i++) {
		if (view->share_title && columns[i].kind == TABLE_PERCENT)
			columns[i].title = view->share_title;
		if (view->calls_title && !strcmp(columns[i].name, shown_columns[SHOW_CALLS].name))
			columns[i].title = view->calls_title;
	}
	table_init(&t, view->name, columns, n);
	fill(&t, all, view);
	table_sort(&t, view->order ? view->order : "total", true);
	print(a, &t, view, from, to, extra);
	table_free(&t);
	if (all->refused)
		fprintf(stderr, "perf-prof: %s: %llu durations are missing from the table, which has at most %d rows\n",
			view->name, (unsigned long long)all->refused, MAX_ROWS);
	all->refused = 0;
}
