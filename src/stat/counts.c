/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in the layout of perf stat. */
#include "stat/counts.h"

#include "base/escape.h"
#include "report/json.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

/* ---- verdict ---------------------------------------------------------------------------- */

/* What the runs of two commands say: which differences are certain, and which runs are no answer because they failed. */

enum {
	CODE_OF_SHELLS = 126,    /* from here on, exit codes say: cannot be executed, not found, ended by a signal */
	CODE_OF_SIGNAL = 128,
};

const char *count_failure(int status, int signal, char *buf, size_t size)
{
	if (signal)
		snprintf(buf, size, "ended by signal %d (%s)", signal, strsignal(signal));
	else if (status > CODE_OF_SIGNAL && status - CODE_OF_SIGNAL < NSIG)
		snprintf(buf, size, "with exit code %d (shells report signal %d, %s, like this)", status, status - CODE_OF_SIGNAL,
			 strsignal(status - CODE_OF_SIGNAL));
	else
		snprintf(buf, size, "with exit code %d", status);
	return buf;
}

static bool always_fails(const struct compared_side *s)
{
	return s->runs && s->failed == s->runs;
}

bool compared_same_exit(const struct compared_table *t)
{
	const struct compared_side *a = &t->sides[0], *b = &t->sides[1];

	return always_fails(a) && always_fails(b) && !a->mixed && !b->mixed && !a->signal && !b->signal &&
	       a->status == b->status && a->status < CODE_OF_SHELLS;
}

bool compared_has_no_winner(const struct compared_table *t)
{
	return (always_fails(&t->sides[0]) || always_fails(&t->sides[1])) && !compared_same_exit(t);
}

const char *compared_verdict(const struct compared_table *t, const struct compared_row *r)
{
	if (isinf(r->difference.half) || compared_has_no_winner(t))
		return NULL;
	if (fabs(r->difference.mean) > r->difference.half)
		return r->difference.mean > 0 ? "more" : "less";
	return "no difference shown";
}

bool compared_ratio(const struct compared_table *t, const struct compared_row *r, struct stats_ratio *ratio)
{
	if (!r || r->a.mean <= 0 || compared_has_no_winner(t))
		return false;
	*ratio = stats_compare_ratio(&r->a, &r->b, t->confidence);
	return true;
}

static void tell_all_failed(const struct compared_side *s, char name, char *buf, size_t size)
{
	char how[128];

	count_failure(s->status, s->signal, how, sizeof(how));
	if (s->runs == 1)
		snprintf(buf, size, "no winner: %c failed, %s", name, how);
	else
		snprintf(buf, size, "no winner: %c failed in all %zu runs, %s%s", name, s->runs, s->mixed ? "the last one " : "", how);
}

static void tell_left_out(const struct compared_side *s, char name, char *buf, size_t size)
{
	char how[128];

	snprintf(buf, size, "%c failed in %zu of %zu runs, %s%s: %s left out", name, s->failed, s->runs, s->mixed ? "the last one " : "",
		 count_failure(s->status, s->signal, how, sizeof(how)), s->failed == 1 ? "that run is" : "those runs are");
}

bool compared_failure(const struct compared_table *t, int side, char *buf, size_t size)
{
	const struct compared_side *s = &t->sides[side];
	const char name = (char)('A' + side);

	if (!s->failed || (compared_same_exit(t) && side))
		return false;
	if (compared_same_exit(t))
		snprintf(buf, size, "A and B ended with exit code %d in all runs, which is taken for their normal result", s->status);
	else if (always_fails(s))
		tell_all_failed(s, name, buf, size);
	else
		tell_left_out(s, name, buf, size);
	return true;
}

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
		if (r->accounted)
			put(&l, "  (getrusage)");
	}
	end_line(&l, out);
}

/* The reason for the mark, once. */
static void print_accounted(const struct count_table *t, FILE *out)
{
	size_t i = 0;

	while (i < t->n && !t->rows[i].accounted)
		i++;
	if (i < t->n)
		fprintf(out, "\n (getrusage) after a line: from %s\n", t->rows[i].why);
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
	print_accounted(t, out);
	print_times(t, out);
}

/* ---- two commands ------------------------------------------------------------ */

/* Ratios have three decimals, as in `stat`. Counts have none, unless rounding would hide the difference: then two, as it has.
 * A mean below 100 loses too much, and so does one that becomes equal to the other. */
static int digits_of(const struct compared_row *r)
{
	enum { SMALL = 100 };
	const double a = r->a.mean * r->scale, b = r->b.mean * r->scale;
	const bool small = fmin(a, b) < SMALL && (a != rint(a) || b != rint(b));

	return r->metric ? 3 : r->unit || small || (a != b && rint(a) == rint(b)) ? 2 : 0;
}

enum { UNIT_WIDTH = 5 };   /* columns of a unit, with the blank before it */

static void put_mean(struct line *l, const struct compared_row *r, const struct stats *s)
{
	char text[NUMBER];

	put(l, " %16s ", number(s->mean * r->scale, digits_of(r), false, text));
	if (s->n > 1)
		put(l, "+- %-9.4g", stats_stddev(s) * r->scale);
	else   /* one run has no deviation */
		put(l, "   %-9s", "");
}

/* width: of the name and the unit. */
static void print_compared(const struct compared_table *t, const struct compared_row *r, int width, FILE *out)
{
	struct line l = { .n = 0 };
	char name[CELL], text[NUMBER];
	const char *verdict = compared_verdict(t, r);

	/* a ratio stands below its event */
	if (r->metric)
		put(&l, "   %-*s", width - 2, r->metric);
	else if (r->unit)
		put(&l, " %-*s %-4s", width - UNIT_WIDTH, shown(r->event, name), r->unit);
	else
		put(&l, " %-*s", width, shown(r->event, name));
	put_mean(&l, r, &r->a);
	put_mean(&l, r, &r->b);
	put(&l, " %16s", number(r->difference.mean * r->scale, r->metric ? 3 : 2, true, text));
	if (!isinf(r->difference.half))
		put(&l, " +- %-9.4g", r->difference.half * r->scale);
	if (r->a.mean != 0)
		put(&l, " %+7.2f%%", percent(r->difference.mean, fabs(r->a.mean)));
	put(&l, "  %s", verdict ? verdict : "");
	if (r->share < 1)
		put(&l, "  (%.2f%%)", 100 * r->share);
	end_line(&l, out);
}

static const struct stats *side(const struct compared_row *r, bool of_b)
{
	return of_b ? &r->b : &r->a;
}

/* The words for elapsed time and CPU time. */
struct answer {
	const char *what, *before, *wins, *as, *loses;
};

static const struct answer of_elapsed = { "elapsed time", "", "is faster", "as long", "takes longer" };
static const struct answer of_undelayed = {
	"elapsed time", "elapsed time: not decided, because the runs waited for CPUs; without that time, ", "is faster", "as long", "takes longer"
};
static const struct answer of_cpu = { "CPU time", "CPU time: ", "takes less", "as much", "takes more" };

/* An interval so wide that its ends say nothing: from half as long to more than twice as long, or without an end. */
static bool is_vague(const struct stats_ratio *of)
{
	return isinf(of->high) || of->high > 4 * of->low;
}

/* Enough digits for the end of an interval nearest to 1 not to be printed as 1, and no more than a measurement has. */
static int digits_of_ratio(const struct stats_ratio *of)
{
	if (of->ratio >= 10)
		return of->ratio < 100;
	return of->low >= 1.01 ? 2 : of->low >= 1.001 ? 3 : 4;
}

/* The largest difference that the interval allows is too small to matter: more runs need not show it. */
static bool is_negligible(const struct stats_ratio *of)
{
	static const double least = 0.02;

	return of->low >= 1 - least && of->high <= 1 + least;
}

static void print_equal(const struct stats_ratio *of, const struct answer *w, double percent_sure, FILE *out)
{
	static const double tenths = 1000;
	const double most = fmax(1 - of->low, of->high - 1);

	fprintf(out, " %s: no difference that matters: A and B differ by at most %.1f %% (%.4g %% confidence)\n", w->what,
		fmax(1, ceil(most * tenths)) / 10, percent_sure);
}

static void print_undecided(const struct compared_table *t, const struct compared_row *r, const struct answer *w, FILE *out)
{
	const struct stats_ratio of = stats_compare_ratio(&r->a, &r->b, t->confidence);
	const double percent_sure = 100 * t->confidence;

	/* four times as many runs halve the interval */
	if (is_negligible(&of))
		print_equal(&of, w, percent_sure, out);
	else if (is_vague(&of))
		fprintf(out, " %s: not decided: the runs differ too much; more runs (-r %zu), and no other work on the machine, may show a "
			"difference (%.4g %% confidence)\n", w->what, 4 * t->sides[0].runs, percent_sure);
	else
		fprintf(out, " %s: not decided: B takes %.2f to %.2f times %s as A (%.4g %% confidence); more runs (-r) narrow this down\n",
			w->what, of.low, of.high, w->as, percent_sure);
}

static bool is_certain(const struct compared_row *r)
{
	return fabs(r->difference.mean) > r->difference.half;
}

/* By the same test as the row; how many times as much follows from the same values. */
static void print_answer(const struct compared_table *t, const struct compared_row *r, const struct answer *w, FILE *out)
{
	const bool b_is_slower = r->difference.mean > 0;
	const struct stats_ratio of = stats_compare_ratio(side(r, !b_is_slower), side(r, b_is_slower), t->confidence);
	const char fast = b_is_slower ? 'A' : 'B', slow = b_is_slower ? 'B' : 'A';
	const double percent_sure = 100 * t->confidence;
	const int digits = digits_of_ratio(&of);

	if (!is_certain(r))
		print_undecided(t, r, w, out);
	else if (is_vague(&of))
		fprintf(out, " %s%c %s: %c takes about %.*f times %s as %c (%.4g %% confidence that it %s; the runs differ too much to say "
			"how much: more runs (-r %zu), and no other work on the machine, may show it)\n", w->before, fast, w->wins, slow,
			of.ratio < 10, of.ratio, w->as, fast, percent_sure, w->loses, 4 * t->sides[0].runs);
	else
		fprintf(out, " %s%c %s: %c takes %.*f times %s as %c (%.4g %% confidence: %.*f to %.*f)\n", w->before, fast, w->wins,
			slow, digits, of.ratio, w->as, fast, percent_sure, digits, of.low, digits, of.high);
}

/* Elapsed time is not decided only because the runs waited for CPUs. */
static bool is_delayed(const struct compared_table *t)
{
	struct stats_ratio of;

	if (!t->undelayed || is_certain(t->elapsed) || !is_certain(t->undelayed))
		return false;
	of = stats_compare_ratio(&t->elapsed->a, &t->elapsed->b, t->confidence);
	return !is_negligible(&of);
}

/* The row of the tracepoint or probe that is counted most often, if that takes more than some 1 % of a command's time. */
static const struct compared_row *costliest(const struct compared_table *t)
{
	static const double least_ns = 100, part = 0.01;
	const struct compared_row *most = NULL;

	for (const struct compared_row *r = t->rows; r < t->rows + t->n; r++)
		if (r->costly && !r->metric && (r->a.mean * least_ns > part * 1e9 * t->elapsed->a.mean ||
						r->b.mean * least_ns > part * 1e9 * t->elapsed->b.mean) &&
		    (!most || r->a.mean + r->b.mean > most->a.mean + most->b.mean))
			most = r;
	return most;
}

static void print_cost(const struct compared_table *t, FILE *out)
{
	const struct compared_row *most = costliest(t);

	if (most)
		fprintf(out, " counting %s made the commands themselves slower: compare their times without it\n", most->event);
}

static void print_answers(const struct compared_table *t, FILE *out)
{
	char line[512];

	for (int i = 0; i < 2; i++)
		if (compared_failure(t, i, line, sizeof(line)))
			fprintf(out, " %s\n", line);
	if (compared_has_no_winner(t)) {
		fputc('\n', out);
		return;
	}
	if (isinf(t->elapsed->difference.half)) {
		fputs(" not decided: a single run may differ by chance; repeat them (-r 10)\n\n", out);
		return;
	}
	if (is_delayed(t))
		print_answer(t, t->undelayed, &of_undelayed, out);
	else
		print_answer(t, t->elapsed, &of_elapsed, out);
	if (t->cpu && t->cpu->a.mean > 0 && t->cpu->b.mean > 0)
		print_answer(t, t->cpu, &of_cpu, out);
	print_cost(t, out);
	fputc('\n', out);
}

/* Other work on the machine makes runs longer, never shorter. */
static void print_fastest(const struct compared_row *r, FILE *out)
{
	char a[NUMBER], b[NUMBER];

	fprintf(out, "; the fastest: A %s msec, B %s msec", number(r->a.min * r->scale, 2, false, a),
		number(r->b.min * r->scale, 2, false, b));
}

/* Far from all others: its distance to them is several times their own range. */
static bool is_outlier(const struct slowest_run *s, const struct stats *elapsed)
{
	enum { FEWEST = 3, RANGES = 3 };

	return elapsed->n >= FEWEST && s->elapsed > 1.5 * s->next && s->elapsed - s->next > RANGES * (s->next - elapsed->min);
}

static void print_outlier(const struct slowest_run *s, const struct stats *elapsed, char name, FILE *out)
{
	char took[NUMBER], low[NUMBER], high[NUMBER];

	if (!is_outlier(s, elapsed))
		return;
	fprintf(out, " %c: run %zu took %s msec, the others %s to %s msec: %s\n", name, s->run,
		number(s->elapsed * 1000, 2, false, took), number(elapsed->min * 1000, 2, false, low),
		number(s->next * 1000, 2, false, high),
		s->run == 1 ? "a cold start? --warmup 1 runs both once before they are counted"
			    : "was the machine busy? More runs (-r) reduce its weight");
}

static void print_runs(const struct compared_table *t, FILE *out)
{
	const size_t runs = t->sides[0].runs;

	fprintf(out, "\n %zu run%s of each, in turns", runs, runs == 1 ? "" : "s");
	if (!t->elapsed || runs < 2) {
		fputs("\n\n", out);
		return;
	}
	if (!compared_has_no_winner(t))
		print_fastest(t->elapsed, out);
	fputc('\n', out);
	print_outlier(&t->sides[0].slowest, &t->elapsed->a, 'A', out);
	print_outlier(&t->sides[1].slowest, &t->elapsed->b, 'B', out);
	fputc('\n', out);
}

/* One run has neither a deviation nor an interval. */
static void print_titles(const struct compared_table *t, int width, FILE *out)
{
	if (t->sides[0].runs > 1)
		fprintf(out, " %-*s %29s %29s   B - A +- half of its %.4g%% confidence interval\n\n", width, "event", "A, mean +- stddev",
			"B, mean +- stddev", 100 * t->confidence);
	else
		fprintf(out, " %-*s %16s %29s %29s\n\n", width, "event", "A", "B", "B - A");
}

/* syscalls:* has hundreds of events, of which a command uses a few. */
static bool is_left_out(const struct compared_row *r)
{
	return r->from_glob && r->a.mean == 0 && r->b.mean == 0;
}

/* The width of the longest name that is shown, with its unit. */
static int width_of(const struct compared_table *t)
{
	enum { LEAST = 29, MOST = 60 };
	int width = LEAST, len;
	char name[CELL];

	for (size_t i = 0; i < t->n; i++) {
		len = (int)strlen(shown(t->rows[i].event, name)) + (t->rows[i].unit ? UNIT_WIDTH : 0);
		if (!is_left_out(&t->rows[i]) && !t->rows[i].metric && len > width)
			width = len < MOST ? len : MOST;
	}
	return width;
}

static void print_left_out(size_t n, FILE *out)
{
	if (n)
		fprintf(out, " %zu event%s of globs that happened in neither command %s left out (--json and --csv have all)\n", n,
			n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

void compared_text(const struct compared_table *t, FILE *out)
{
	const int width = width_of(t);
	size_t left_out = 0;
	char name[CELL];

	fprintf(out, "\n A: %s\n", shown(t->sides[0].command, name));
	fprintf(out, " B: %s\n\n", shown(t->sides[1].command, name));
	print_titles(t, width, out);
	for (size_t i = 0; i < t->n; i++)
		if (is_left_out(&t->rows[i]))
			left_out++;
		else
			print_compared(t, &t->rows[i], width, out);
	print_left_out(left_out, out);
	print_runs(t, out);
	if (t->elapsed)
		print_answers(t, out);
}

/* ---- CSV -------------------------------------------------------------------------------- */

/* Counts as CSV (RFC 4180): a title line, and the same columns whatever the options. */

const char *const count_states[] = {
	[COUNT_GOOD] = "counted", [COUNT_NEVER_RAN] = "not counted",
	[COUNT_NOT_SUPPORTED] = "not supported", [COUNT_NOT_PERMITTED] = "not permitted",
};

static void print_csv_row(const struct count_table *t, const struct count_row *r, struct csv_form form, FILE *out)
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
		print_csv_row(t, &t->rows[i], form, out);
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

/* Prints how many runs failed, and how, in each row. */
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

/* ---- JSON ------------------------------------------------------------------------------- */

/* Counts as JSON: one document, or a line per interval. */

static bool put_spread(json_object *to, const struct stats *s, double scale)
{
	return s->n < 2 || (json_put_number(to, "stddev", stats_stddev(s) * scale) &&
			    json_put_number(to, "standard_error", stats_error(s) * scale) &&
			    json_put_number(to, "min", s->min * scale) &&
			    json_put_number(to, "max", s->max * scale));
}

static bool put_json_metric(json_object *to, const struct count_metric *m)
{
	json_object *o;
	char unit[64];

	if (!m->unit)
		return true;
	o = json_object_new_object();
	snprintf(unit, sizeof(unit), "%.1s%s", &m->prefix, m->unit);
	return json_put(to, "metric", o) && json_put_number(o, "value", m->value) && json_put_text(o, "unit", unit);
}

static bool put_counts(json_object *o, const struct count_row *r)
{
	return json_put_number(o, "value", r->value * r->scale) && json_put_text(o, "unit", r->unit) &&
	       json_put_number(o, "counted", r->counted) &&
	       json_put_bool(o, "exact", r->share >= 1 && !r->partial) &&
	       json_put_number(o, "share", r->share) && put_spread(o, &r->runs, r->scale) &&
	       put_json_metric(o, &r->metric);
}

static bool append_row(json_object *rows, const struct count_table *t, const struct count_row *r)
{
	json_object *o = json_object_new_object();

	return json_append(rows, o) && json_put_text(o, "event", r->event) &&
	       (!r->where || json_put_text(o, t->where_word, r->where)) &&
	       json_put_text(o, "state", count_states[r->state]) && json_put_text(o, "why", count_why(r)) &&
	       (!count_was_open(r) ||
		(json_put_number(o, "enabled_ns", (double)r->enabled) &&
		 json_put_number(o, "running_ns", (double)r->running))) &&
	       (r->state != COUNT_GOOD || put_counts(o, r));
}

static bool put_time(json_object *to, const char *key, const struct stats *s)
{
	json_object *o;

	if (!s->n)
		return true;
	o = json_object_new_object();
	return json_put(to, key, o) && json_put_number(o, "mean", s->mean) && put_spread(o, s, 1);
}

static bool put_command(json_object *root, const struct count_table *t)
{
	json_object *words;

	if (!t->command)
		return true;
	words = json_object_new_array();
	if (!json_put(root, "command", words))
		return false;
	for (const char *const *w = t->command; *w; w++)
		if (!json_append(words, json_text(*w, strlen(*w))))
			return false;
	return t->exit_status < 0 || (json_put_number(root, "exit_status", t->exit_status) &&
				      json_put_unsigned(root, "failed", t->failed));
}

static bool fill(json_object *root, const struct count_table *t)
{
	json_object *rows = json_object_new_array();

	if (t->is_interval ? !json_put_number(root, "time", t->time)
			   : !(json_put_text(root, "target", t->title) && put_command(root, t) &&
			       json_put_number(root, "runs", (double)t->elapsed.n) &&
			       put_time(root, "elapsed_s", &t->elapsed) &&
			       put_time(root, "user_s", &t->user) && put_time(root, "sys_s", &t->sys)))
		return json_object_put(rows), false;
	if (!json_put(root, "events", rows))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!append_row(rows, t, &t->rows[i]))
			return false;
	return true;
}

int counts_json(const struct count_table *t, FILE *out)
{
	json_object *root = json_object_new_object();

	return (t->is_interval ? json_line : json_document)(root, root && fill(root, t), out);
}

/* ---- two commands ------------------------------------------------------------ */

static bool put_side(json_object *to, const char *key, const struct stats *s, double scale)
{
	json_object *o = json_object_new_object();

	return json_put(to, key, o) && json_put_number(o, "mean", s->mean * scale) && put_spread(o, s, scale);
}

static bool append_compared(json_object *rows, const struct compared_table *t, const struct compared_row *r)
{
	json_object *o = json_object_new_object();
	double low = (r->difference.mean - r->difference.half) * r->scale;
	double high = (r->difference.mean + r->difference.half) * r->scale;

	return json_append(rows, o) && json_put_text(o, "event", r->event) &&
	       json_put_text(o, "metric", r->metric) && json_put_text(o, "unit", r->unit) &&
	       put_side(o, "a", &r->a, r->scale) && put_side(o, "b", &r->b, r->scale) &&
	       json_put_number(o, "difference", r->difference.mean * r->scale) &&
	       json_put_number(o, "low", low) && json_put_number(o, "high", high) &&
	       json_put_number(o, "share", r->share) && json_put_text(o, "verdict", compared_verdict(t, r));
}

/* b / a. Without `low` and `high`, too few or too different runs leave it open. */
static bool put_ratio(json_object *root, const char *key, const struct compared_table *t, const struct compared_row *row)
{
	struct stats_ratio r;
	json_object *o;

	if (!compared_ratio(t, row, &r))
		return true;
	o = json_object_new_object();
	return json_put(root, key, o) && json_put_number(o, "ratio", r.ratio) &&
	       (isinf(r.high) || (json_put_number(o, "low", r.low) && json_put_number(o, "high", r.high))) &&
	       json_put_text(o, "verdict", compared_verdict(t, row));
}

static bool put_sides(json_object *root, const struct compared_side *a, const struct compared_side *b)
{
	return json_put_text(root, "a", a->command) && json_put_text(root, "b", b->command) &&
	       json_put_unsigned(root, "runs", a->runs) &&
	       json_put_unsigned(root, "a_failed", a->failed) && json_put_unsigned(root, "b_failed", b->failed) &&
	       json_put_number(root, "a_exit_status", a->status) && json_put_number(root, "b_exit_status", b->status);
}

static bool fill_compared(json_object *root, const struct compared_table *t)
{
	json_object *rows = json_object_new_array();

	if (!json_put(root, "events", rows) || !put_sides(root, &t->sides[0], &t->sides[1]) ||
	    !json_put_number(root, "confidence", t->confidence) || !put_ratio(root, "elapsed_ratio", t, t->elapsed) ||
	    !put_ratio(root, "cpu_ratio", t, t->cpu))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!append_compared(rows, t, &t->rows[i]))
			return false;
	return true;
}

int compared_json(const struct compared_table *t, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_document(root, root && fill_compared(root, t), out);
}
