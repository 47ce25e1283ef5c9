/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in the layout of perf stat. */
#include "stat/counts.h"

#include "base/escape.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { VALUE = 18, UNIT = 4, NAME = 32, METRIC = 16, CELL = 256 };

static const char *const states[] = {
	[COUNT_NEVER_RAN] = "<not counted>", [COUNT_NOT_SUPPORTED] = "<not supported>",
	[COUNT_NOT_PERMITTED] = "<not permitted>",
};

static const char *shown(const char *text, char *buf)
{
	escape_terminal(text ? text : "", text ? strlen(text) : 0, buf, CELL);
	return buf;
}

enum { NUMBER = 512 };           /* bytes for any number, which may have 309 digits */

/* With commas between thousands, as perf stat prints it in an English locale. */
static const char *number(double value, int digits, bool sign, char *buf)
{
	char plain[NUMBER / 4 * 3], *to = buf;
	int n = snprintf(plain, sizeof(plain), sign ? "%+.*f" : "%.*f", digits, value);
	int whole = (int)strcspn(plain, ".");

	for (int i = 0; i < n; i++) {
		*to++ = plain[i];
		if (i + 1 < whole && (whole - i - 1) % 3 == 0 && plain[i] >= '0' && plain[i] <= '9')
			*to++ = ',';
	}
	*to = '\0';
	return buf;
}

static int where_width(const struct count_table *t)
{
	char buf[CELL];
	size_t width = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].where && strlen(shown(t->rows[i].where, buf)) > width)
			width = strlen(buf);
	return (int)width;
}

/* A line is built before it is printed, so that trailing spaces can be removed. */
struct line {
	char text[4 * CELL];
	size_t n;
};

static void put(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->n, sizeof(l->text) - l->n, fmt, ap);
	va_end(ap);
	l->n += n > 0 ? (size_t)n : 0;
	if (l->n >= sizeof(l->text))
		l->n = sizeof(l->text) - 1;
}

static void end_line(struct line *l, FILE *out)
{
	while (l->n && l->text[l->n - 1] == ' ')
		l->n--;
	fprintf(out, "%.*s\n", (int)l->n, l->text);
	l->n = 0;
}

static void put_metric(struct line *l, const struct count_row *r)
{
	char unit[64] = "";

	if (r->metric.unit)
		snprintf(unit, sizeof(unit), "%.1s%s", &r->metric.prefix, r->metric.unit);
	if (r->metric.unit)
		put(l, " # %8.3f %-*s", r->metric.value, METRIC, unit);
	else if (r->runs.n > 1 || r->share < 1)
		put(l, "   %8s %-*s", "", METRIC, "");
}

static double percent(double part, double whole)
{
	return whole != 0 ? 100 * part / whole : 0;
}

static void print_row(const struct count_table *t, const struct count_row *r, int where, FILE *out)
{
	struct line l = { .n = 0 };
	char name[CELL], text[NUMBER];

	if (t->is_interval)
		put(&l, "%16.9f ", t->time);
	if (where)
		put(&l, "%-*s ", where, shown(r->where, name));
	if (where && !strcmp(t->where_word, "core"))
		put(&l, "%5u ", r->counters);
	/* estimates of counts are printed as whole numbers */
	put(&l, "%*s ", VALUE,
	    r->state == COUNT_GOOD ? number(r->value * r->scale, r->unit ? 2 : 0, false, text) : states[r->state]);
	put(&l, "%-*s %-*s", UNIT, r->unit ? r->unit : "", NAME, shown(r->event, name));
	if (r->state == COUNT_GOOD) {
		put_metric(&l, r);
		if (r->runs.n > 1)
			put(&l, "  ( +- %5.2f%% )", percent(stats_error(&r->runs), fabs(r->value)));
		/* an estimate, with the share of the time that was counted */
		if (r->share < 1)
			put(&l, "  (%.2f%%)", 100 * r->share);
	}
	end_line(&l, out);
}

static void print_times(const struct count_table *t, FILE *out)
{
	if (t->elapsed.n > 1) {
		fprintf(out, "\n%18.*f +- %.*f seconds time elapsed  ( +- %5.2f%% )\n\n", 7,
			t->elapsed.mean, 7, stats_error(&t->elapsed),
			percent(stats_error(&t->elapsed), t->elapsed.mean));
		return;
	}
	fprintf(out, "\n%18.9f seconds time elapsed\n\n", t->elapsed.mean);
	if (t->user.n)
		fprintf(out, "%18.9f seconds user\n%18.9f seconds sys\n\n", t->user.mean, t->sys.mean);
}

static bool is_estimated(const struct count_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].state == COUNT_GOOD && t->rows[i].share < 1)
			return true;
	return false;
}

void counts_text(const struct count_table *t, bool first, FILE *out)
{
	int where = where_width(t);
	char title[CELL];

	if (t->is_interval && first)
		fprintf(out, "#%15s %*s%*s unit events\n", "time", where ? where + 1 : 0,
			where ? t->where_word : "", VALUE, "counts");
	if (!t->is_interval) {
		fprintf(out, "\n Performance counter stats for %s", shown(t->title, title));
		if (t->elapsed.n > 1)
			fprintf(out, " (%zu runs)", t->elapsed.n);
		fputs(":\n\n", out);
	}
	for (size_t i = 0; i < t->n; i++)
		print_row(t, &t->rows[i], where, out);
	if (t->is_interval)
		return;
	if (is_estimated(t))
		fputs("\n (N%) after a line: counters were shared; the value is an estimate from N% "
		      "of the time\n", out);
	print_times(t, out);
}

/* ---- two commands ------------------------------------------------------------ */

static const char *verdict(const struct compared_row *r)
{
	if (isinf(r->difference.half))
		return "";
	if (fabs(r->difference.mean) > r->difference.half)
		return r->difference.mean > 0 ? "more" : "less";
	return "no difference shown";
}

/* Ratios have three decimals, as in `stat`. Counts have none, unless rounding would hide the difference: then two, as it has.
 * A mean below 100 loses too much, and so does one that becomes equal to the other. */
static int digits_of(const struct compared_row *r)
{
	enum { SMALL = 100 };
	const double a = r->a.mean * r->scale, b = r->b.mean * r->scale;
	const bool small = fmin(a, b) < SMALL && (a != rint(a) || b != rint(b));

	return r->metric ? 3 : r->unit || small || (a != b && rint(a) == rint(b)) ? 2 : 0;
}

static void put_mean(struct line *l, const struct compared_row *r, const struct stats *s)
{
	char text[NUMBER];

	put(l, " %16s ", number(s->mean * r->scale, digits_of(r), false, text));
	if (s->n > 1)
		put(l, "+- %-9.4g", stats_stddev(s) * r->scale);
	else   /* one run has no deviation */
		put(l, "   %-9s", "");
}

static void print_compared(const struct compared_row *r, FILE *out)
{
	struct line l = { .n = 0 };
	char name[CELL], text[NUMBER];

	/* a ratio stands below its event */
	if (r->metric)
		put(&l, "   %-27s", r->metric);
	else
		put(&l, " %-24s %-4s", shown(r->event, name), r->unit ? r->unit : "");
	put_mean(&l, r, &r->a);
	put_mean(&l, r, &r->b);
	put(&l, " %16s", number(r->difference.mean * r->scale, r->metric ? 3 : 2, true, text));
	if (!isinf(r->difference.half))
		put(&l, " +- %-9.4g", r->difference.half * r->scale);
	if (r->a.mean != 0)
		put(&l, " %+7.2f%%", percent(r->difference.mean, fabs(r->a.mean)));
	put(&l, "  %s", verdict(r));
	if (r->share < 1)
		put(&l, "  (%.2f%%)", 100 * r->share);
	end_line(&l, out);
}

static const struct stats *side(const struct compared_row *r, bool of_b)
{
	return of_b ? &r->b : &r->a;
}

/* By the same test as the row of elapsed time; how many times as long follows from the same values. */
static void print_verdict(const struct compared_table *t, FILE *out)
{
	const struct compared_row *r = t->elapsed;
	const bool b_is_slower = r->difference.mean > 0;
	const bool is_certain = fabs(r->difference.mean) > r->difference.half;
	const struct stats_ratio of = is_certain ? stats_compare_ratio(side(r, !b_is_slower), side(r, b_is_slower), t->confidence)
						 : stats_compare_ratio(&r->a, &r->b, t->confidence);
	const char fast = b_is_slower ? 'A' : 'B', slow = b_is_slower ? 'B' : 'A';
	const double percent_sure = 100 * t->confidence;
	/* enough for the end nearest to 1 not to be printed as 1 */
	const int digits = !is_certain || of.low >= 1.01 ? 2 : of.low >= 1.001 ? 3 : 4;

	if (isinf(r->difference.half))
		fprintf(out, " no difference in elapsed time is certain: a single run may differ by chance; repeat them (-r 10)\n");
	else if (!is_certain && isinf(of.high))
		fprintf(out, " no difference in elapsed time is certain: the runs differ too much; more (-r) may show one (%.4g %% confidence)\n",
			percent_sure);
	else if (!is_certain)
		fprintf(out, " no difference in elapsed time is certain: B takes %.2f to %.2f times as long as A (%.4g %% confidence); "
			"more runs (-r) narrow this down\n", of.low, of.high, percent_sure);
	else if (isinf(of.high))
		fprintf(out, " %c is faster: %c takes about %.2f times as long as %c (%.4g %% confidence that it takes longer; more runs (-r) "
			"show how much)\n", fast, slow, of.ratio, fast, percent_sure);
	else
		fprintf(out, " %c is faster: %c takes %.*f times as long as %c (%.4g %% confidence: %.*f to %.*f)\n", fast, slow, digits,
			of.ratio, fast, percent_sure, digits, of.low, digits, of.high);
}

/* Other work on the machine makes runs longer, never shorter. */
static void print_fastest(const struct compared_row *r, FILE *out)
{
	char a[NUMBER], b[NUMBER];

	fprintf(out, "; the fastest: A %s msec, B %s msec", number(r->a.min * r->scale, 2, false, a),
		number(r->b.min * r->scale, 2, false, b));
}

void compared_text(const struct compared_table *t, FILE *out)
{
	size_t runs = t->n ? t->rows[0].a.n : 0;
	char name[CELL];

	fprintf(out, "\n A: %s\n", shown(t->a, name));
	fprintf(out, " B: %s\n\n", shown(t->b, name));
	fprintf(out, " %-29s %29s %29s   B - A +- half of its %.4g%% confidence interval\n\n", "event", "A, mean +- stddev",
		"B, mean +- stddev", 100 * t->confidence);
	for (size_t i = 0; i < t->n; i++)
		print_compared(&t->rows[i], out);
	fprintf(out, "\n %zu run%s of each, in turns", runs, runs == 1 ? "" : "s");
	if (t->elapsed && runs > 1)
		print_fastest(t->elapsed, out);
	fputs("\n\n", out);
	if (t->elapsed) {
		print_verdict(t, out);
		fputc('\n', out);
	}
}
