/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof diff: its table, and the lines below it. */
#include "analysis/profiles/diff_private.h"
#include "analysis/profiles/pyprofile.h"
#include "base/escape.h"
#include "report/json.h"
#include "report/table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define NS_PER_MS 1e6

enum { ROWS = 30, MANY_PERCENT = 100, UNMATCHED_PERCENT = 1, COLUMNS = 14 };

/* The text has one change, of the share or of the time; JSON has both. */
static const struct table_column share_columns[] = {
	{ "before", TABLE_PERCENT, .title = "before%" }, { "after", TABLE_PERCENT, .title = "after%" },
	{ "before_time", TABLE_DURATION, .title = "before", .unit = "ms", .spare = 3 },
	{ "after_time", TABLE_DURATION, .title = "after", .unit = "ms", .spare = 4 },
	{ "shown", TABLE_TEXT, .title = "change", .where = TABLE_ONLY_TEXT, .align = TABLE_RIGHT },
	{ "change", TABLE_NUMBER, .unit = "points", .digits = 2, .where = TABLE_ONLY_JSON },
	{ "low", TABLE_NUMBER, .title = "from", .digits = 2, .spare = 1 },
	{ "high", TABLE_NUMBER, .title = "to", .digits = 2, .spare = 2 },
	{ "verdict", TABLE_TEXT }, { "function", TABLE_TEXT, .fit = FIT_NAME },
	{ "dso", TABLE_TEXT, .fit = FIT_PATH },
};

static const struct table_column time_columns[COLUMNS] = {
	{ "before", TABLE_PERCENT, .title = "before%", .spare = 3 }, { "after", TABLE_PERCENT, .title = "after%", .spare = 4 },
	{ "before_time", TABLE_DURATION, .title = "before", .unit = "ms" },
	{ "after_time", TABLE_DURATION, .title = "after", .unit = "ms" },
	{ "shown", TABLE_TEXT, .title = "change", .unit = "ms", .where = TABLE_ONLY_TEXT, .align = TABLE_RIGHT },
	{ "change", TABLE_NUMBER, .unit = "points", .where = TABLE_ONLY_JSON },
	{ "low", TABLE_NUMBER, .where = TABLE_ONLY_JSON }, { "high", TABLE_NUMBER, .where = TABLE_ONLY_JSON },
	{ "time_change", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	{ "time_low", TABLE_DURATION, .title = "from", .unit = "ms", .spare = 1 },
	{ "time_high", TABLE_DURATION, .title = "to", .unit = "ms", .spare = 2 },
	{ "verdict", TABLE_TEXT }, { "function", TABLE_TEXT, .fit = FIT_NAME },
	{ "dso", TABLE_TEXT, .fit = FIT_PATH },
};

/* Of folded stacks whose weights are times, of waits and such. */
static bool is_exact(const struct diff *d)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];

	return !a->mixed && !b->mixed && a->timed && b->timed;
}

/* Whether weights are also shown as times. */
static bool is_timed(const struct diff *d)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];

	return is_exact(d) || (!a->mixed && !b->mixed && a->in_ns && b->in_ns);
}

static bool have_same_parts(const struct diff *d)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];

	return !a->mixed && !b->mixed && a->without_kernel == b->without_kernel;
}

/* Whether times are compared: those of the same work. Else shares are. */
static bool is_by_time(const struct diff *d)
{
	return is_exact(d) || (is_timed(d) && have_same_parts(d) && d->sides[SHARES_BEFORE].of_command &&
			       d->sides[SHARES_AFTER].of_command);
}

/* *n columns in buf. */
static void choose_columns(const struct diff *d, struct table_column buf[COLUMNS], size_t *n)
{
	const size_t all = sizeof(share_columns) / sizeof(*share_columns);

	*n = 0;
	for (size_t i = 0; i < COLUMNS && is_by_time(d); i++)
		buf[(*n)++] = time_columns[i];
	for (size_t i = 0; i < all && !is_by_time(d); i++)
		if (share_columns[i].kind != TABLE_DURATION || is_timed(d))
			buf[(*n)++] = share_columns[i];
}

/* new and gone: also as a caller, it has no samples on the other side. */
static const char *verdict(const struct share *share, const uint64_t *weight, bool by_time)
{
	const bool grew = (by_time ? &share->sum : &share->change)->difference > 0;

	if (share->not_compared)
		return "not compared";
	if (!(share->evidence > 0))
		return share->share_evidence > 0 && weight[SHARES_BEFORE] && weight[SHARES_AFTER] ? "same time" : "unclear";
	if (!share->total[grew ? SHARES_BEFORE : SHARES_AFTER] && !share->on_both)
		return grew ? "new" : "gone";
	if (by_time && !shares_agree(share))
		return grew ? "more time" : "less time";
	return grew ? "grew" : "shrank";
}

/* The first side whose number of samples is not known, or, of times, both if there is one of one of them; NULL: there are verdicts. */
static const struct side *unjudged(const struct diff *d)
{
	if (is_exact(d))
		return shares_have_several(d->shares) ? NULL : d->sides;
	for (int k = 0; k < SHARES_SIDES; k++)
		if (!d->sides[k].samples)
			return &d->sides[k];
	return NULL;
}

/* Times of files from other tools may be larger than int64_t, which is undefined in llround(). */
static int64_t whole(double ns)
{
	return ns >= 0x1p63 ? INT64_MAX : ns <= -0x1p63 ? INT64_MIN : llround(ns);
}

static void put_time(struct table *t, const struct stats_interval *time)
{
	table_integer(t, whole(time->difference));
	table_integer(t, whole(time->low));
	table_integer(t, whole(time->high));
}

static void put_change(const struct diff *d, struct table *t, const struct share *share)
{
	if (is_by_time(d))
		table_printf(t, "%+.3f", share->sum.difference / NS_PER_MS);
	else
		table_printf(t, "%+.2f", 100 * share->change.difference);
	table_number(t, 100 * share->change.difference);
	if (unjudged(d)) {
		table_none(t);
		table_none(t);
		if (!is_by_time(d))
			return;
		table_integer(t, whole(share->sum.difference));
		table_none(t);
		table_none(t);
		return;
	}
	table_number(t, 100 * share->change.low);
	table_number(t, 100 * share->change.high);
	if (is_by_time(d))
		put_time(t, &share->sum);
}

static void put_row(const struct diff *d, struct table *t, const struct share *share)
{
	const uint64_t *weight = d->total ? share->total : share->self;

	table_row(t);
	for (int k = 0; k < SHARES_SIDES; k++)
		table_number(t, shares_percent(d->shares, k, weight[k]));
	for (int k = 0; k < SHARES_SIDES && is_timed(d); k++)
		table_unsigned(t, weight[k] / d->sides[k].runs);
	put_change(d, t, share);
	if (unjudged(d))
		table_none(t);
	else
		table_text(t, verdict(share, weight, is_by_time(d)));
	table_text(t, share->function);
	table_text(t, share->dso);
	if (share->evidence > 0)
		table_mark(t);
}

static bool is_shown(const struct diff *d, const struct share *share)
{
	const uint64_t *weight = d->total ? share->total : share->self;
	double before = shares_percent(d->shares, SHARES_BEFORE, weight[SHARES_BEFORE]);
	double after = shares_percent(d->shares, SHARES_AFTER, weight[SHARES_AFTER]);

	return (before > 0 || after > 0) && 100 * (before > after ? before : after) >= (double)d->least;
}

static double confidence(const struct diff *d)
{
	return (double)d->confidence / 100 / MANY_PERCENT;
}

static double left_out_percent(const struct side *side)
{
	return side->weight ? MANY_PERCENT * (double)side->left_out / (double)side->weight : 0;
}

static const char *side_text(const struct side *side, char *buf, size_t size)
{
	char shown[40] = "";

	if (side->left_out)
		snprintf(shown, sizeof(shown), ", %.2f %% of them shown", MANY_PERCENT - left_out_percent(side));
	if (side->samples)
		snprintf(buf, size, "%s: %llu samples of %s%s, %llu lost%s", side->name, (unsigned long long)side->samples, side->what,
			 side->without_kernel ? " (without the kernel)" : "", (unsigned long long)side->lost, shown);
	else
		snprintf(buf, size, "%s: folded stacks%s", side->name, side->timed ? " of time" : "");
	return buf;
}

static void describe_side(struct table *t, const struct side *side, const char *name)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_samples", name);
	if (side->samples)
		table_extra(t, key, json_object_new_uint64(side->samples));
	snprintf(key, sizeof(key), "%s_runs", name);
	table_extra(t, key, json_object_new_uint64(side->runs));
	snprintf(key, sizeof(key), "%s_lost", name);
	table_extra(t, key, json_object_new_uint64(side->lost));
	snprintf(key, sizeof(key), "%s_left_out_percent", name);
	if (side->left_out)
		table_extra(t, key, json_object_new_double(left_out_percent(side)));
	snprintf(key, sizeof(key), "%s_event", name);
	if (*side->what)
		table_extra(t, key, json_object_new_string(side->what));
	snprintf(key, sizeof(key), "%s_without_kernel", name);
	if (side->without_kernel)
		table_extra(t, key, json_object_new_boolean(true));
}

/* The times of all functions. */
static void describe_times(const struct diff *d, struct table *t, char *text, size_t size)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];
	const uint64_t before = a->weight / a->runs, after = b->weight / b->runs;
	struct stats_interval time;
	const char *what = "";

	*text = '\0';
	if (!is_timed(d))
		return;
	table_extra(t, "before_time", json_object_new_uint64(before));
	table_extra(t, "after_time", json_object_new_uint64(after));
	if (is_by_time(d) && !unjudged(d)) {
		time = shares_compare_sides(d->shares, confidence(d));
		table_extra(t, "time_low", json_object_new_int64(whole(time.low)));
		table_extra(t, "time_high", json_object_new_int64(whole(time.high)));
		what = time.low > 0 ? ", more time" : time.high < 0 ? ", less time" : ", unclear";
	}
	/* user time of one and CPU time of the other are not the same */
	if (!have_same_parts(d))
		return;
	snprintf(text, size, "%stime %s%.3f ms before, %.3f ms after (%+.1f %%%s)",
		 is_exact(d) ? "" : !strcmp(a->what, PYPROFILE_ELAPSED) ? "elapsed " : a->without_kernel ? "user " : "CPU ",
		 a->runs + b->runs > 2 ? "of a run " : "", (double)before / NS_PER_MS, (double)after / NS_PER_MS,
		 100 * ((double)after / (double)before - 1), what);
}

static void describe(const struct diff *d, struct table *t, size_t changed)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER], *unknown = unjudged(d);
	const char *of = d->total ? "total" : "self", *what = is_by_time(d) ? "time" : "share";
	char side[700], why[600], times[160];

	describe_side(t, a, "before");
	describe_side(t, b, "after");
	if (unknown) {
		snprintf(why, sizeof(why), "%s%s", is_exact(d) ? "one run of a side" : unknown->name,
			 is_exact(d) ? " does not show how much runs differ; compare several of each: BEFORE... --vs AFTER..." :
				       ": the number of samples is not known");
		table_extra(t, "no_verdicts", json_object_new_string(why));
		table_caption(t, "no verdicts (%s %s): %s", of, what, why);
	} else {
		table_caption(t, "%zu changed (%s %s, %g %% confidence)", changed, of, what, 100 * confidence(d));
		table_extra(t, "confidence", json_number(100 * confidence(d)));
		table_extra(t, "changed", json_object_new_uint64(changed));
	}
	table_extra(t, "of", json_object_new_string(of));
	describe_times(d, t, times, sizeof(times));
	if (*times)
		table_caption_more(t, "%s", times);
	table_caption_more(t, "%s", side_text(a, side, sizeof(side)));
	table_caption_more(t, "%s", side_text(b, side, sizeof(side)));
}

static void describe_renamed(const struct diff *d, struct table *t)
{
	struct json_object *all = json_object_new_array();
	bool good = all;

	for (size_t i = 0; i < d->nrenamed && good; i++) {
		struct json_object *pair = json_object_new_object();

		good = json_append(all, pair) && json_put_text(pair, "before", d->renamed[i].from) &&
		       json_put_text(pair, "after", d->renamed[i].to);
	}
	if (good)
		table_extra(t, "renamed", all);
	else
		json_object_put(all);
}

static void tell_renamed(const struct diff *d)
{
	char from[256], to[256];

	for (size_t i = 0; i < d->nrenamed; i++) {
		escape_terminal(d->renamed[i].from, strlen(d->renamed[i].from), from, sizeof(from));
		escape_terminal(d->renamed[i].to, strlen(d->renamed[i].to), to, sizeof(to));
		printf("%s before and %s after are taken for the same file, as both have functions of the same names; --no-ignore-files "
		       "keeps them apart\n", from, to);
	}
}

static void describe_places(const struct diff *d, struct table *t)
{
	if (shares_at_other_places(d->shares))
		table_extra(t, "other_places", json_object_new_uint64(shares_at_other_places(d->shares)));
}

/* Lambdas, and functions of Python. */
static void tell_places(const struct diff *d)
{
	const size_t n = shares_at_other_places(d->shares);

	if (n)
		printf("%zu function%s on another line than before: compared by name, and shown with the place in AFTER\n",
		       n, n == 1 ? " is" : "s are");
}

/* After a rebuild, functions have no names, or, in a stripped program, other addresses. With what they call, they overlap: then the
 * largest share stands for all. */
static void tell_unmatched(const struct diff *d, struct share *const *shares, size_t n)
{
	uint64_t weight[SHARES_SIDES] = { 0 };
	double percent[SHARES_SIDES];

	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < SHARES_SIDES && shares[i]->unmatched && shares[i]->dso[0] != '['; k++)
			weight[k] = !d->total ? weight[k] + shares[i]->self[k] :
				    shares[i]->total[k] > weight[k] ? shares[i]->total[k] : weight[k];
	for (int k = 0; k < SHARES_SIDES; k++)
		percent[k] = shares_percent(d->shares, k, weight[k]);
	if (percent[SHARES_BEFORE] >= UNMATCHED_PERCENT || percent[SHARES_AFTER] >= UNMATCHED_PERCENT)
		printf("not compared: functions without a name in one of the two (%s%.0f %% of the %s before, %.0f %% after): the "
		       "program is stripped and may be another build, or was rebuilt after it was recorded\n",
		       d->total ? "the largest: " : "", percent[SHARES_BEFORE], is_exact(d) ? "time" : "samples", percent[SHARES_AFTER]);
}

/* Callers that one way of unwinding finds and the other misses look like changes. */
static void tell_chains(const struct diff *d)
{
	static const char *const from[] = {
		[CHAINS_FP] = "frame pointers", [CHAINS_DWARF] = "unwind tables (dwarf)", [CHAINS_BRANCHES] = "branches (lbr)",
	};
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];

	if (a->chains && b->chains && a->chains != b->chains)
		printf("the call chains of %s are from %s, those of %s from %s: callers may differ\n", a->name, from[a->chains],
		       b->name, from[b->chains]);
}

/* Where inlined functions have frames of their own. */
static void tell_inlined(const struct diff *d)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];
	const struct side *with = a->inlined == FOLDED_HAS_INLINED ? a : b, *without = with == a ? b : a;

	if ((d->of_folded || d->common.inline_rows || d->flame.path) && with->inlined == FOLDED_HAS_INLINED &&
	    without->inlined == FOLDED_NO_INLINED)
		printf("%s %s inlined functions, %s %s none: to compare without inlined functions, use --no-inline for both\n", with->name,
		       has(with), without->name, has(without));
}

/* Recordings of profile --off-cpu. */
static void tell_off_cpu(const struct diff *d)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];

	const struct side *one = a->off_cpu ? a : b;
	const bool both = a->off_cpu && b->off_cpu;

	if (a->off_cpu || b->off_cpu)
		printf("%s%s%s also %s the time off CPUs, which is not compared; `perf-prof profile --off-cpu -I FILE "
		       "--flame-graph FILE.folded` writes it, and `perf-prof diff --total` compares such files\n",
		       one->name, both ? " and " : "", both ? b->name : "", both ? "have" : has(one));
}

/* With --total, one expects the time of what was called. */
static void tell_left_out(const struct diff *d)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];

	if (d->total && d->common.dsos.n && (a->left_out || b->left_out))
		printf("--dso leaves out the samples in other files (%.2f %% before, %.2f %% after), also those that the shown functions called\n",
		       left_out_percent(a), left_out_percent(b));
}

/* In folded stacks, time off CPUs ends in a frame of its own, or with the task that ended it. */
static bool is_of_waits(const char *function)
{
	return !strcmp(function, "[blocked]") || !strncmp(function, "[because of ", 12) || !strncmp(function, "[woken by ", 10);
}

static void tell_blocked(const struct diff *d, struct share *const *shares, size_t n)
{
	if (!is_exact(d) || d->total)
		return;
	for (size_t i = 0; i < n; i++)
		if (is_of_waits(shares[i]->function)) {
			printf("%s time off CPUs; --total shows the functions that wait\n",
			       strcmp(shares[i]->function, "[blocked]") != 0 ? "the table shows" : "[blocked] has all");
			return;
		}
}

/* The kernel's limit may have lowered the rate of some. */
static void tell_rates(const struct diff *d)
{
	const struct side *a = &d->sides[SHARES_BEFORE], *b = &d->sides[SHARES_AFTER];
	const uint64_t slowest = a->slowest < b->slowest ? a->slowest : b->slowest, fastest = a->fastest > b->fastest ? a->fastest : b->fastest;

	if (slowest && slowest < fastest)
		printf("the recordings were sampled at %llu to %llu Hz; record all with -F %llu to detect smaller changes\n",
		       (unsigned long long)slowest, (unsigned long long)fastest, (unsigned long long)fastest);
}

int diff_show(struct diff *d, struct fault *f)
{
	struct table_style style = { .terminal = analysis_terminal(&d->common), .max_rows = ROWS, .all_by = "--rows 0" };
	const struct shares_terms terms = { d->total, is_by_time(d), confidence(d) };
	struct table_column shown[COLUMNS];
	size_t nshown, n, changed = 0;
	struct table t;
	struct share **shares;
	int rc;

	if (!d->names_alone && !d->of_folded)
		d->nrenamed = shares_match_files(d->shares, d->renamed);
	shares = shares_compare(d->shares, &terms, &n);
	if (!shares)
		return fault_set(f, EXIT_FAILED, "out of memory, or too many functions");
	if (d->common.rows)
		style.max_rows = (size_t)d->common.rows;
	choose_columns(d, shown, &nshown);
	table_init(&t, "diff", shown, nshown);
	for (size_t i = 0; i < n; i++) {
		if (!is_shown(d, shares[i]))
			continue;
		put_row(d, &t, shares[i]);
		changed += shares[i]->evidence > 0;
	}
	describe(d, &t, changed);
	if (d->nrenamed)
		describe_renamed(d, &t);
	describe_places(d, &t);
	rc = d->csv ? table_csv(&t, NULL, true, (struct csv_form){ ',', d->csv_safe }, stdout) :
	     analysis_put_table_of(&d->common, &t, &style);
	table_free(&t);
	if (!d->common.json && !d->csv) {
		if (!unjudged(d) && !shares_have_spread(d->shares) && !d->common.stream.quiet)
			puts("runs of the same program differ, and one recording of each does not show by how much: record both sides five times, in "
			     "turns, and compare them with OLD... --vs NEW...");
		tell_renamed(d);
		tell_places(d);
		tell_unmatched(d, shares, n);
		tell_chains(d);
		tell_inlined(d);
		tell_off_cpu(d);
		tell_blocked(d, shares, n);
		tell_left_out(d);
		tell_rates(d);
	}
	return rc == -ENOMEM ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}
