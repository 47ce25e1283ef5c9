/* SPDX-License-Identifier: Apache-2.0 */
/* Means, spreads and differences; counts as text, CSV and JSON. */
#include "checks.h"

#include "stat/counts.h"

#include <json-c/json.h>

#include <math.h>

/* ---- statistics --------------------------------------------------------------- */

static struct stats of(const double *v, size_t n)
{
	struct stats s = { 0 };

	for (size_t i = 0; i < n; i++)
		stats_add(&s, v[i]);
	return s;
}

static void near(double a, double b, double within)
{
	if (!(fabs(a - b) <= within))
		fail_msg("%.12g is not within %g of %.12g", a, within, b);
}

TEST(mean_and_spread)
{
	static const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	static const double large[] = { 1e15 + 1, 1e15 + 2, 1e15 + 3 };
	struct stats s = of(v, COUNT(v)), none = { 0 }, one = of(v, 1), l = of(large, COUNT(large));

	near(s.mean, 5, 1e-12);
	near(stats_stddev(&s), 2.13808993529940, 1e-12);
	near(stats_error(&s), 2.13808993529940 / sqrt(8), 1e-12);
	assert_true(s.min == 2 && s.max == 9);
	assert_true(stats_stddev(&none) == 0 && stats_error(&none) == 0);
	assert_true(one.mean == 2 && stats_stddev(&one) == 0);
	near(stats_stddev(&l), 1, 1e-3);
}

/* Quantiles as any table of Student's t has them. */
TEST(students_t)
{
	static const struct {
		double p, df, t, within;
	} rows[] = {
		{ 0.975, 1, 12.70620474, 1e-6 }, { 0.975, 2, 4.30265273, 1e-6 }, { 0.975, 4, 2.77644511, 1e-6 },
		{ 0.975, 10, 2.22813885, 1e-6 }, { 0.975, 30, 2.04227246, 1e-6 }, { 0.995, 5, 4.03214298, 1e-6 },
		{ 0.95, 3, 2.35336343, 1e-6 }, { 0.975, 1e6, 1.95996635, 1e-5 }, { 0.975, 7.5, 2.3327, 2e-3 },
		{ 0.5, 3, 0, 1e-9 }, { 0.025, 4, -2.77644511, 1e-6 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		near(stats_t_quantile(rows[i].p, rows[i].df), rows[i].t, rows[i].within);
}

/* Welch's test of NIST's example with unequal spreads, computed by hand. */
TEST(differences)
{
	static const double a[] = { 10, 12, 14 }, b[] = { 20, 21, 22, 23 }, same[] = { 3, 3 };
	struct stats sa = of(a, 3), sb = of(b, 4), ss = of(same, 2), one = of(a, 1);
	struct stats_difference d = stats_compare(&sa, &sb, 0.95);
	double va = 4.0 / 3, vb = (5.0 / 3) / 4;
	double df = (va + vb) * (va + vb) / (va * va / 2 + vb * vb / 3);

	near(d.mean, 9.5, 1e-12);
	near(d.half, stats_t_quantile(0.975, df) * sqrt(va + vb), 1e-9);
	assert_true(isinf(stats_compare(&sa, &one, 0.95).half));
	assert_true(stats_compare(&ss, &ss, 0.95).half == 0);
}

/* Both ends of Fieller's interval are where b - r a is t standard errors from 0; swapped, they are the reciprocals. */
TEST(ratios)
{
	static const double a[] = { 10, 12, 14 }, b[] = { 20, 21, 22, 23 }, wild[] = { 1, 30 };
	struct stats sa = of(a, 3), sb = of(b, 4), sw = of(wild, 2), one = of(a, 1);
	struct stats_ratio r = stats_compare_ratio(&sa, &sb, 0.95), back = stats_compare_ratio(&sb, &sa, 0.95);
	double va = 4.0 / 3, vb = (5.0 / 3) / 4, t = stats_compare(&sa, &sb, 0.95).half / sqrt(va + vb);

	near(r.ratio, 21.5 / 12, 1e-12);
	near((21.5 - r.low * 12) / sqrt(vb + r.low * r.low * va), t, 1e-9);
	near((21.5 - r.high * 12) / sqrt(vb + r.high * r.high * va), -t, 1e-9);
	near(back.low, 1 / r.high, 1e-9);
	near(back.high, 1 / r.low, 1e-9);
	assert_true(isinf(stats_compare_ratio(&sw, &sb, 0.95).high));
	assert_true(isinf(stats_compare_ratio(&sa, &one, 0.95).high));
	near(stats_compare_ratio(&sa, &one, 0.95).ratio, 10.0 / 12, 1e-12);
}

/* A row of a comparison, at 95 %. */
static struct compared_row row_of(const char *event, double scale, struct stats a, struct stats b)
{
	return (struct compared_row){ .event = event, .scale = scale, .a = a, .b = b, .share = 1,
				      .difference = stats_compare(&a, &b, 0.95) };
}

/* Of commands x and y; its elapsed times are the first row. */
static struct compared_table table_of(struct compared_row *rows, size_t n, size_t runs)
{
	return (struct compared_table){ .sides = { { .command = "x", .runs = runs }, { .command = "y", .runs = runs } },
					.confidence = 0.95, .rows = rows, .n = n, .elapsed = &rows[0] };
}

/* To be freed, as JSON or as text. Inlined, it makes gcc 12 for arm64 warn of a pointer to its local. */
__attribute__((noinline)) static char *compared(const struct compared_table *t, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (json)
		assert_int_equal(compared_json(t, out), 0);
	else
		compared_text(t, out);
	fclose(out);
	return text;
}

TEST(verdicts)
{
	static const double slow[] = { 1.61, 1.62, 1.63 }, fast[] = { 1, 1.01, 0.99 }, near_fast[] = { 1.002, 1.012, 0.992 };
	static const double hair[] = { 1.00299, 1.003, 1.00301 }, exact[] = { 1, 1.00001, 0.99999 }, wild[] = { 0.01, 3, 1 };
	static const double close[] = { 1, 1.002, 0.998 }, near_close[] = { 1.001, 1.003, 0.999 };
	static const double several[] = { 5, 6.4, 3.6 }, many[] = { 20, 20.2, 19.8 };
	const struct {
		struct stats a, b;
		const char *verdict;
	} cases[] = {
		{ of(fast, 3), of(slow, 3), "\n A is faster: B takes 1.62 times as long as A (95 % confidence: 1.59 to 1.65)\n\n" },
		{ of(slow, 3), of(fast, 3), "\n B is faster: A takes 1.62 times as long as B (95 % confidence: 1.59 to 1.65)\n\n" },
		{ of(exact, 3), of(hair, 3), "\n A is faster: B takes 1.003 times as long as A (95 % confidence: 1.003 to 1.003)\n\n" },
		{ of(fast, 3), of(near_fast, 3), "\n elapsed time: not decided: B takes 0.98 to 1.02 times as long as A "
						 "(95 % confidence); more runs" },
		{ of(close, 3), of(near_close, 3), "\n elapsed time: no difference that matters: A and B differ by at most 0.6 % "
						   "(95 % confidence)\n\n" },
		{ of(exact, 3), of(exact, 3), "\n elapsed time: no difference that matters: A and B differ by at most 0.1 % (" },
		{ of(wild, 3), of(fast, 3), "\n elapsed time: not decided: the runs differ too much; more runs (-r 12), and no other "
		  "work on the machine, may show a difference (" },
		{ of(fast, 3), of(several, 3), "\n A is faster: B takes about 5.0 times as long as A (95 % confidence that it takes longer; the "
					       "runs differ too much to say how much: more runs (-r 12), and no other work" },
		{ of(many, 3), of(fast, 3), "\n B is faster: A takes 20.0 times as long as B (95 % confidence: 19.3 to 20.7)\n\n" },
		{ of(fast, 1), of(slow, 1), "\n not decided: a single run may differ by chance" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct compared_row r = row_of("elapsed", 1000, cases[i].a, cases[i].b);
		const struct compared_table t = table_of(&r, 1, cases[i].a.n);
		char *text;

		r.unit = "msec";
		text = compared(&t, false);
		SAYS(text, cases[i].verdict);
		assert_int_equal(strstr(text, "in turns; the fastest: A ") != NULL, cases[i].a.n > 1);
		assert_int_equal(strstr(text, "B - A +- half of its 95% confidence interval") != NULL, cases[i].a.n > 1);
		free(text);
	}
}

/* Noise hides which is faster, but not which takes less CPU time. */
TEST(cpu_time_has_an_answer_of_its_own)
{
	static const double wild[] = { 1, 2, 1.5 }, wilder[] = { 2.1, 1, 1.4 }, less[] = { 0.50, 0.51, 0.49 }, more[] = { 0.55, 0.56, 0.54 };
	struct compared_row r[] = { row_of("elapsed", 1000, of(wild, 3), of(wilder, 3)), row_of("task-clock", 1, of(less, 3), of(more, 3)) };
	struct compared_table t = table_of(r, 2, 3);
	char *text, *json;

	t.cpu = &r[1];
	text = compared(&t, false);
	SAYS(text, "\n elapsed time: not decided: the runs differ too much;",
	     "\n CPU time: A takes less: B takes 1.10 times as much as A (95 % confidence: 1.05 to 1.15)\n\n");
	free(text);
	json = compared(&t, true);
	SAYS(json, "\"cpu_ratio\": {\n    \"ratio\": 1.1,");
	SAYS(strstr(json, "\"cpu_ratio\""), "\"verdict\": \"more\"");
	SAYS(strstr(json, "\"elapsed_ratio\""), "\"verdict\": \"no difference shown\"");
	free(json);
}

/* Waiting for a CPU hides what is certain without it, unless the difference cannot matter anyway. */
TEST(waiting_for_a_cpu)
{
	static const double a[] = { 10, 10.01, 9.99 }, b[] = { 20, 20.01, 19.99 }, wild[] = { 50, 90, 20 }, wilder[] = { 40, 110, 70 };
	static const double close[] = { 100, 100.1, 99.9 };
	const struct {
		struct stats elapsed[2];
		bool known;
		const char *answer;
	} cases[] = {
		{ { of(wild, 3), of(wilder, 3) }, true, "\n elapsed time: not decided, because the runs waited for CPUs; without that time, A is "
							"faster: B takes 2.00 times as long as A (95 % confidence: 2.00 to 2.00)\n" },
		{ { of(wild, 3), of(wilder, 3) }, false, "\n elapsed time: not decided: " },
		{ { of(close, 3), of(close, 3) }, true, "\n elapsed time: no difference that matters: " },
	};
	const struct compared_row undelayed = row_of("", 1, of(a, 3), of(b, 3));

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct compared_row elapsed = row_of("elapsed", 1, cases[i].elapsed[0], cases[i].elapsed[1]);
		struct compared_table t = table_of(&elapsed, 1, 3);
		char *text;

		t.undelayed = cases[i].known ? &undelayed : NULL;
		text = compared(&t, false);
		SAYS(text, cases[i].answer);
		free(text);
	}
}

/* 100,000 events in 10 ms slow a command down; a few do not, and a clock never does. */
TEST(frequent_tracepoints_are_named)
{
	static const double times[] = { 0.010, 0.011, 0.012 }, few[] = { 10, 10, 10 }, many[] = { 100000, 100000, 100001 };

	for (int i = 0; i < 3; i++) {
		struct compared_row r[] = { row_of("elapsed", 1000, of(times, 3), of(times, 3)),
					    row_of("sys:one", 1, of(few, 3), of(i ? many : few, 3)) };
		const struct compared_table t = table_of(r, 2, 3);
		char *text;

		r[1].costly = i < 2;
		text = compared(&t, false);
		assert_int_equal(strstr(text, "\n counting sys:one made the commands themselves slower: compare their times without it\n")
				 != NULL, i == 1);
		free(text);
	}
}

/* ---- renderings ----------------------------------------------------------------- */

static struct count_row rows[] = {
	{ .event = "task-clock", .unit = "msec", .scale = 1e-6, .value = 1234567, .counted = 1234567,
	  .enabled = 1234567, .running = 1234567, .share = 1, .counters = 1,
	  .metric = { 0.5, "CPUs utilized", 0 } },
	{ .event = "cycles", .scale = 1, .value = 4567000, .counted = 1000, .enabled = 100,
	  .running = 25, .share = 0.25, .counters = 1, .metric = { 3.25, "GHz", 0 } },
	{ .event = "faults", .scale = 1, .value = 61, .counted = 61, .share = 1, .counters = 1, .metric = { 72.882, "/sec", 'K' } },
	{ .event = "instructions", .scale = 1, .state = COUNT_NOT_SUPPORTED, .why = "no, \"none\"" },
	{ .event = "bad\033[1mname", .scale = 1, .state = COUNT_NEVER_RAN, .enabled = 9 },
	{ .event = "migrations", .scale = 1, .state = COUNT_NOT_PERMITTED, .why = "paranoid" },
};

static struct count_table table(void)
{
	struct count_table t = { .title = "'x'", .where_word = "all", .rows = rows, .n = COUNT(rows), .exit_status = -1 };

	stats_add(&t.elapsed, 0.25);
	return t;
}

/* What fn writes; free it. */
static char *written(void (*fn)(const struct count_table *, FILE *), const struct count_table *t)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fn(t, out);
	fclose(out);
	return text;
}

static void as_text(const struct count_table *t, FILE *out)
{
	counts_text(t, true, out);
}

static void as_csv(const struct count_table *t, FILE *out)
{
	counts_csv(t, (struct csv_form){ ',', false }, true, out);
}

static void as_json(const struct count_table *t, FILE *out)
{
	assert_int_equal(counts_json(t, out), 0);
}

TEST(text_is_perf_stats)
{
	struct count_table t = table();
	char *text = written(as_text, &t);

	assert_string_equal(text,
		"\n Performance counter stats for 'x':\n\n"
		"              1.23 msec task-clock                       #    0.500 CPUs utilized\n"
		"         4,567,000      cycles                           #    3.250 GHz               "
		"(25.00%)\n"
		"                61      faults                           #   72.882 K/sec\n"
		"   <not supported>      instructions\n"
		"     <not counted>      bad\\x1b[1mname\n"
		"   <not permitted>      migrations\n"
		"\n (N%) after a line: counters were shared; the value is an estimate from N% of the "
		"time\n"
		"\n       0.250000000 seconds time elapsed\n\n");
	free(text);
}

TEST(csv_has_the_same_columns_everywhere)
{
	struct count_table t = table();
	char *text = written(as_csv, &t), *save = NULL;
	unsigned int lines = 0;

	SAYS(text, "\"no, \"\"none\"\"\"\n", ",,cycles,4567000,,counted,1000,100,25,25,,3.25,GHz,\n",
	     ",,task-clock,1.234567,msec,counted,1234567,", ",,migrations,,,not permitted,,,,,,,,paranoid\n");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned int commas = 0;
		bool quoted = false;

		for (const char *p = line; *p; p++) {
			quoted ^= *p == '"';
			commas += *p == ',' && !quoted;
		}
		assert_int_equal(commas, 13);
		lines++;
	}
	assert_int_equal(lines, 1 + COUNT(rows) + 1);
	free(text);
}

static json_object *member(json_object *o, const char *key)
{
	json_object *v = NULL;

	assert_true(json_object_object_get_ex(o, key, &v));
	return v;
}

TEST(json_tells_estimates)
{
	struct count_table t = table();
	char *text = written(as_json, &t);
	json_object *root = json_tokener_parse(text), *events, *e;

	assert_non_null(root);
	events = member(root, "events");
	assert_int_equal(json_object_array_length(events), COUNT(rows));
	e = json_object_array_get_idx(events, 1);
	assert_int_equal(json_object_get_int64(member(e, "value")), 4567000);
	assert_int_equal(json_object_get_int64(member(e, "counted")), 1000);
	assert_false(json_object_get_boolean(member(e, "exact")));
	assert_true(json_object_get_double(member(e, "share")) == 0.25);
	e = json_object_array_get_idx(events, 3);
	assert_string_equal(json_object_get_string(member(e, "state")), "not supported");
	assert_false(json_object_object_get_ex(e, "value", NULL));
	e = json_object_array_get_idx(events, 5);
	assert_string_equal(json_object_get_string(member(e, "state")), "not permitted");
	assert_false(json_object_object_get_ex(e, "enabled_ns", NULL));
	json_object_put(root);
	free(text);
}

TEST(intervals_are_one_line_each)
{
	struct count_table t = table();
	char *text;

	t.is_interval = true;
	t.time = 1.5;
	text = written(as_json, &t);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	text = written(as_text, &t);
	assert_non_null(strstr(text, "     1.500000000               1.23 msec task-clock"));
	assert_null(strstr(text, "elapsed"));
	free(text);
}

TEST(several_runs_show_their_spread)
{
	static const double v[] = { 90, 100, 110 };
	struct count_row r = { .event = "faults", .scale = 1, .value = 100, .share = 1, .runs = of(v, 3) };
	struct count_table t = { .title = "'x'", .where_word = "all", .rows = &r, .n = 1, .elapsed = of(v, 3), .exit_status = 0 };
	char *text = written(as_text, &t);

	SAYS(text, "'x' (3 runs):", "faults", "( +-  5.77% )\n");
	free(text);
	text = written(as_json, &t);
	assert_non_null(strstr(text, "\"stddev\": 10"));
	free(text);
}

TEST(comparison)
{
	static const double a[] = { 100, 101, 99 }, b[] = { 150, 151, 149 };
	static const double c[] = { 74.4, 75.4, 73.4 }, d[] = { 74.2, 75.2, 73.2 };
	static const double few[] = { 0, 1, 1 }, zero[] = { 0, 0, 0 };
	static const double million[] = { 1234567, 1234567, 1234567 };
	struct compared_row r[] = {
		row_of("faults", 1, of(a, 3), of(b, 3)), row_of("other", 1, of(a, 3), of(a, 3)), row_of("near", 1, of(c, 3), of(d, 3)),
		row_of("near", 1, of(d, 3), of(c, 3)), row_of("few", 1, of(few, 3), of(zero, 3)), row_of("none", 1, of(zero, 3), of(zero, 3)),
		row_of("many", 1, of(million, 3), of(a, 3)),
	};
	struct compared_table t = table_of(r, COUNT(r), 3);
	char *text;

	t.elapsed = NULL;
	r[3].metric = "insn per cycle";
	text = compared(&t, false);
	/* 74 and 74 would not differ by -0.20 */
	SAYS(text, "more", "+50.00%", "no difference shown", " 100 +- ", " 74.40 +- ", " 74.20 +- ",
	     "\n   insn per cycle                        74.200 +- 1 ", " 0.67 +- 0.5774 ", " 0.00 +- 0 ", " -0.67 +- ", " 0 +- 0 ",
	     " +0.200 +- ", " 1,234,567 +- 0 ", " -1,234,467.00 +- ", "3 runs of each");
	free(text);
	r[0] = row_of("faults", 1, of(a, 1), of(a, 1));
	t = table_of(r, 1, 1);
	t.elapsed = NULL;
	text = compared(&t, false);
	SAYS(text, "\n 1 run of each, in turns\n");
	assert_null(strstr(text, "+-"));
	assert_null(strstr(text, "confidence"));
	free(text);
}

/* Agresti and Caffo of 10 of 100 and 30 of 100, by hand. */
TEST(shares)
{
	struct stats_share a = { 10, 100 }, b = { 30, 100 }, none = { 0, 50 };
	struct stats_interval i = stats_compare_shares(&a, &b, 0.95);
	double half = 1.959964 * sqrt(11.0 / 102 * 91 / 102 / 102 + 31.0 / 102 * 71 / 102 / 102);

	near(i.difference, 0.2, 1e-12);
	near(i.low, 20.0 / 102 - half, 1e-4);
	near(i.high, 20.0 / 102 + half, 1e-4);
	near(stats_evidence(&i), i.low, 1e-12);
	i = stats_compare_shares(&b, &a, 0.95);
	near(stats_evidence(&i), 20.0 / 102 - half, 1e-4);
	i = stats_compare_shares(&none, &none, 0.99);
	near(i.difference, 0, 1e-12);
	assert_true(i.low < 0 && i.high > 0 && stats_evidence(&i) == 0);
}

/* 1: b is more with that confidence, -1: less, 0: neither. */
static int order(struct stats_sum a, struct stats_sum b, double confidence)
{
	struct stats_interval i = stats_compare_sums(&a, &b, confidence);

	assert_true(i.low <= i.difference && i.difference <= i.high);
	return i.low > 0 ? 1 : i.high < 0 ? -1 : 0;
}

/* 100 and 150 samples of many: 50 are 3.15 deviations of sqrt(101 + 151). */
TEST(sums)
{
	const double many = 1e9;
	struct stats_sum a = { 100, many, 1e6, 0 }, b = { 150, many, 1e6, 0 }, half = { 200, many, 5e5, 0 }, none = { 0, many, 1e6, 0 };
	struct stats_interval i = stats_compare_sums(&a, &b, 0.95);

	near(i.difference, 50e6, 1e-3);
	near(i.low, 50e6 - 1.959964e6 * sqrt(252), 1e3);
	near(i.high, 50e6 + 1.959964e6 * sqrt(252), 1e3);
	assert_int_equal(order(a, b, 0.99), 1);
	assert_int_equal(order(b, a, 0.99), -1);
	assert_int_equal(order(a, b, 0.999), 0);
	assert_int_equal(order(a, half, 0.5), 0);   /* twice as many, each half as much */
	assert_int_equal(order(none, a, 0.99), 1);
	assert_int_equal(order(none, none, 0.5), 0);
}

/* 300 of 400 and 350 of 400, by hand; all samples, whose number is exact; and more samples do not narrow what differs from run to run. */
TEST(sums_of_most_samples_and_of_runs_that_differ)
{
	struct stats_sum a = { 300, 400, 1, 0 }, b = { 350, 400, 1, 0 }, all = { 400, 400, 1, 0 }, more = { 410, 410, 1, 0 };
	struct stats_sum c = { 1e8, 2e8, 1, 0.03 }, d = { 1.1e8, 2e8, 1, 0.03 }, e = { 1.2e8, 2e8, 1, 0.03 };
	struct stats_interval i = stats_compare_sums(&a, &b, 0.95);

	near(i.low, 50 - 1.959964 * sqrt(301 * 101.0 / 402 + 351 * 51.0 / 402), 1e-3);
	assert_int_equal(order(all, more, 0.99), 1);
	assert_int_equal(order(c, d, 0.99), 0);
	assert_int_equal(order(c, e, 0.99), 1);
	c.apart = d.apart = 0;
	assert_int_equal(order(c, d, 0.99), 1);
}

/* A share drawn by a generator of its own. */
static struct stats_share draw(double p, int n, uint64_t *state)
{
	struct stats_share s = { 0, n };

	for (int i = 0; i < n; i++) {
		*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		s.part += (double)(*state >> 11) / 9007199254740992.0 < p;
	}
	return s;
}

/* An interval that says 95 % holds the true difference that often, with small shares, too. */
TEST(intervals_hold_what_they_say)
{
	static const struct {
		double p, q;
		int n, m;
	} truths[] = { { 0.5, 0.6, 200, 300 }, { 0.02, 0.02, 300, 300 }, { 0.01, 0.05, 500, 200 }, { 0.9, 0.7, 60, 40 } };
	enum { DRAWS = 4000 };
	uint64_t seed = 1;

	for (size_t k = 0; k < COUNT(truths); k++) {
		int inside = 0;

		for (int i = 0; i < DRAWS; i++) {
			struct stats_share a = draw(truths[k].p, truths[k].n, &seed), b = draw(truths[k].q, truths[k].m, &seed);
			struct stats_interval d = stats_compare_shares(&a, &b, 0.95);

			inside += d.low <= truths[k].q - truths[k].p && truths[k].q - truths[k].p <= d.high;
		}
		assert_in_range(inside, DRAWS * 94 / 100, DRAWS * 985 / 1000);
	}
}
