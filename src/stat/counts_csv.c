/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as CSV (RFC 4180): a title line, and the same columns whatever was asked for. */
#include "stat/counts.h"

#include "base/escape.h"
#include "report/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {
	[COUNT_GOOD] = "counted", [COUNT_NEVER_RAN] = "not counted",
	[COUNT_NOT_SUPPORTED] = "not supported", [COUNT_NOT_PERMITTED] = "not permitted",
};

/* Quoted where a separator or a quote is in it. */
static void put_quoted(const char *text, struct csv_form form, FILE *out)
{
	const char special[] = { form.separator, '"', '\0' };
	const char *mark = form.safe && quote_is_formula(text, strlen(text)) ? "'" : "";

	if (!strpbrk(text, special)) {
		fprintf(out, "%s%s", mark, text);
		return;
	}
	fprintf(out, "\"%s", mark);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

/* Made harmless to a terminal: so no line ends in it. */
static void put_text(const char *text, struct csv_form form, FILE *out)
{
	char *safe = text ? escape_whole(text) : NULL;

	if (safe)
		put_quoted(safe, form, out);
	free(safe);
}

/* A number, or nothing where there is none. */
static void put_number(bool there, double value, char separator, FILE *out)
{
	fputc(separator, out);
	if (there && !isinf(value) && !isnan(value))
		fprintf(out, "%.15g", value);
}

static void put_titles(const char *const *titles, char separator, FILE *out)
{
	for (size_t i = 0; titles[i]; i++)
		fprintf(out, "%s%.1s", titles[i], titles[i + 1] ? &separator : "\n");
}

static void print_row(const struct count_table *t, const struct count_row *r, struct csv_form form, FILE *out)
{
	const char sep = form.separator;
	bool good = r->state == COUNT_GOOD, opened = count_was_open(r);

	if (t->is_interval)
		fprintf(out, "%.9f", t->time);
	fputc(sep, out);
	put_text(r->where, form, out);
	fputc(sep, out);
	put_text(r->event, form, out);
	put_number(good, r->value * r->scale, sep, out);
	fputc(sep, out);
	put_text(r->unit, form, out);
	fprintf(out, "%c%s", sep, states[r->state]);
	put_number(good, r->counted, sep, out);
	put_number(opened, (double)r->enabled, sep, out);
	put_number(opened, (double)r->running, sep, out);
	put_number(good, 100 * r->share, sep, out);
	put_number(good && r->runs.n > 1, stats_stddev(&r->runs) * r->scale, sep, out);
	put_number(good && r->metric.unit, r->metric.value, sep, out);
	fputc(sep, out);
	if (good && r->metric.unit) {
		fprintf(out, "%.1s", &r->metric.prefix);
		put_text(r->metric.unit, form, out);
	}
	fputc(sep, out);
	put_text(r->why, form, out);
	fputc('\n', out);
}

static void print_time(const char *name, const struct stats *s, char sep, FILE *out)
{
	if (!s->n)
		return;
	fprintf(out, "%c%c%s", sep, sep, name);
	put_number(true, s->mean, sep, out);
	fprintf(out, "%cs%ccounted%c%c%c", sep, sep, sep, sep, sep);
	put_number(false, 0, sep, out);
	put_number(s->n > 1, stats_stddev(s), sep, out);
	fprintf(out, "%c%c%c\n", sep, sep, sep);
}

void counts_csv(const struct count_table *t, struct csv_form form, bool first, FILE *out)
{
	static const char *const titles[] = {
		"time", "where", "event", "value", "unit", "state", "counted", "enabled_ns",
		"running_ns", "share_percent", "stddev", "metric", "metric_unit", "why", NULL,
	};

	if (first)
		put_titles(titles, form.separator, out);
	for (size_t i = 0; i < t->n; i++)
		print_row(t, &t->rows[i], form, out);
	if (t->is_interval)
		return;
	print_time("elapsed", &t->elapsed, form.separator, out);
	print_time("user", &t->user, form.separator, out);
	print_time("sys", &t->sys, form.separator, out);
}

void compared_csv(const struct compared_table *t, struct csv_form form, FILE *out)
{
	static const char *const titles[] = {
		"event", "unit", "runs", "a_mean", "a_stddev", "b_mean", "b_stddev", "difference",
		"half_width", "confidence_percent", "share_percent", NULL,
	};
	const char separator = form.separator;

	put_titles(titles, separator, out);
	for (size_t i = 0; i < t->n; i++) {
		const struct compared_row *r = &t->rows[i];

		put_text(r->event, form, out);
		fputc(separator, out);
		put_text(r->unit, form, out);
		put_number(true, (double)r->a.n, separator, out);
		put_number(true, r->a.mean * r->scale, separator, out);
		put_number(true, stats_stddev(&r->a) * r->scale, separator, out);
		put_number(true, r->b.mean * r->scale, separator, out);
		put_number(true, stats_stddev(&r->b) * r->scale, separator, out);
		put_number(true, r->difference.mean * r->scale, separator, out);
		put_number(true, r->difference.half * r->scale, separator, out);
		put_number(true, 100 * t->confidence, separator, out);
		put_number(true, 100 * r->share, separator, out);
		fputc('\n', out);
	}
}
