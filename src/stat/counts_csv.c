/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as CSV (RFC 4180): a title line, and the same columns whatever the options. */
#include "stat/counts.h"

#include <math.h>

const char *const count_states[] = {
	[COUNT_GOOD] = "counted", [COUNT_NEVER_RAN] = "not counted",
	[COUNT_NOT_SUPPORTED] = "not supported", [COUNT_NOT_PERMITTED] = "not permitted",
};

static void print_row(const struct count_table *t, const struct count_row *r, struct csv_form form, FILE *out)
{
	const char sep = form.separator;
	bool good = r->state == COUNT_GOOD, opened = count_was_open(r);

	if (t->is_interval)
		fprintf(out, "%.9f", t->time);
	fputc(sep, out);
	csv_text(r->where, form, out);
	fputc(sep, out);
	csv_text(r->event, form, out);
	csv_number(good, r->value * r->scale, sep, out);
	fputc(sep, out);
	csv_text(r->unit, form, out);
	fprintf(out, "%c%s", sep, count_states[r->state]);
	csv_number(good, r->counted, sep, out);
	csv_number(opened, (double)r->enabled, sep, out);
	csv_number(opened, (double)r->running, sep, out);
	csv_number(good, 100 * r->share, sep, out);
	csv_number(good && r->runs.n > 1, stats_stddev(&r->runs) * r->scale, sep, out);
	csv_number(good && r->metric.unit, r->metric.value, sep, out);
	fputc(sep, out);
	if (good && r->metric.unit) {
		fprintf(out, "%.1s", &r->metric.prefix);
		csv_text(r->metric.unit, form, out);
	}
	fputc(sep, out);
	csv_text(count_why(r), form, out);
	fputc('\n', out);
}

static void print_time(const char *name, const struct stats *s, char sep, FILE *out)
{
	if (!s->n)
		return;
	fprintf(out, "%c%c%s", sep, sep, name);
	csv_number(true, s->mean, sep, out);
	fprintf(out, "%cs%ccounted%c%c%c", sep, sep, sep, sep, sep);
	csv_number(false, 0, sep, out);
	csv_number(s->n > 1, stats_stddev(s), sep, out);
	fprintf(out, "%c%c%c\n", sep, sep, sep);
}

void counts_csv(const struct count_table *t, struct csv_form form, bool first, FILE *out)
{
	static const char *const titles[] = {
		"time", "where", "event", "value", "unit", "state", "counted", "enabled_ns",
		"running_ns", "share_percent", "stddev", "metric", "metric_unit", "why", NULL,
	};

	if (first)
		csv_titles(titles, form.separator, out);
	for (size_t i = 0; i < t->n; i++)
		print_row(t, &t->rows[i], form, out);
	if (t->is_interval)
		return;
	print_time("elapsed", &t->elapsed, form.separator, out);
	print_time("user", &t->user, form.separator, out);
	print_time("sys", &t->sys, form.separator, out);
}

static void print_ratio(const struct compared_table *t, const struct compared_row *r, char separator, FILE *out)
{
	struct stats_ratio ratio = { .high = INFINITY };
	const bool there = compared_ratio(t, r, &ratio);

	csv_number(there, ratio.ratio, separator, out);
	csv_number(there && !isinf(ratio.high), ratio.low, separator, out);
	csv_number(there && !isinf(ratio.high), ratio.high, separator, out);
}

/* The same in each row. */
static void print_failures(const struct compared_table *t, char separator, FILE *out)
{
	for (int i = 0; i < 2; i++)
		csv_number(true, (double)t->sides[i].failed, separator, out);
	for (int i = 0; i < 2; i++)
		csv_number(true, t->sides[i].status, separator, out);
}

void compared_csv(const struct compared_table *t, struct csv_form form, FILE *out)
{
	static const char *const titles[] = {
		"event", "unit", "runs", "a_mean", "a_stddev", "b_mean", "b_stddev", "difference",
		"half_width", "confidence_percent", "share_percent", "metric", "verdict", "ratio", "ratio_low", "ratio_high",
		"a_min", "b_min", "a_failed", "b_failed", "a_exit_status", "b_exit_status", NULL,
	};
	const char separator = form.separator;

	csv_titles(titles, separator, out);
	for (size_t i = 0; i < t->n; i++) {
		const struct compared_row *r = &t->rows[i];

		csv_text(r->event, form, out);
		fputc(separator, out);
		csv_text(r->unit, form, out);
		csv_number(true, (double)r->a.n, separator, out);
		csv_number(true, r->a.mean * r->scale, separator, out);
		csv_number(r->a.n > 1, stats_stddev(&r->a) * r->scale, separator, out);
		csv_number(true, r->b.mean * r->scale, separator, out);
		csv_number(r->b.n > 1, stats_stddev(&r->b) * r->scale, separator, out);
		csv_number(true, r->difference.mean * r->scale, separator, out);
		csv_number(true, r->difference.half * r->scale, separator, out);
		csv_number(true, 100 * t->confidence, separator, out);
		csv_number(true, 100 * r->share, separator, out);
		fputc(separator, out);
		csv_text(r->metric, form, out);
		fputc(separator, out);
		csv_text(compared_verdict(t, r), form, out);
		print_ratio(t, r, separator, out);
		csv_number(true, r->a.min * r->scale, separator, out);
		csv_number(true, r->b.min * r->scale, separator, out);
		print_failures(t, separator, out);
		fputc('\n', out);
	}
}
