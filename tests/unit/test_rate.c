/* SPDX-License-Identifier: Apache-2.0 */
/* Frequencies and a limit that falls while events are opened. */

#include "checks.h"

#include "stream/asked/rate.h"

/* A kernel whose limit is another one at each opening; the last one stays. */
struct kernel {
	uint64_t limits[5];       /* the first is never used, the last is 0 */
	size_t at;
	int otherwise;              /* what an opening within the limit gets */
	bool blind;                 /* the sysctl can't be read */
	unsigned int opened;
};

static int open_event(void *ctx, struct perf_event_attr *attr)
{
	struct kernel *k = ctx;

	k->opened++;
	if (k->limits[k->at + 1])
		k->at++;
	return attr->freq && attr->sample_freq > k->limits[k->at] ? -EINVAL : k->otherwise;
}

static int limit_of(void *ctx, uint64_t *limit)
{
	const struct kernel *k = ctx;

	*limit = k->limits[k->at];
	return k->blind ? -EACCES : 0;
}

static const struct row {
	struct kernel kernel;
	bool is_period, strict;
	uint64_t asked, used;
	int rc;
	unsigned int opened;
	bool by_default;            /* nobody has asked for it */
} rows[] = {
	{ { { 0, 100000 } }, false, false, 997, 997, 0, 1 }, { { { 0, 500 } }, false, false, 500, 500, 0, 1 },
	{ { { 0, 500 } }, false, false, 997, 500, 0, 2 },
	/* it falls between the refusal and the next try */
	{ { { 0, 2000, 500, 250 } }, false, false, 4000, 250, 0, 4 },
	{ { { 0, 500 } }, false, true, 997, 997, -ERANGE, 1 }, { { { 0, 500 } }, false, true, 500, 500, 0, 1 },
	/* what something else is to blame for stays as it is */
	{ { { 0, 500 }, .otherwise = -EINVAL }, false, false, 400, 400, -EINVAL, 1 },
	{ { { 0, 500 }, .otherwise = -EINVAL }, false, true, 400, 400, -EINVAL, 1 },
	{ { { 0, 500 }, .otherwise = -ESRCH }, false, false, 997, 500, -ESRCH, 2 },
	{ { { 0, 500 }, .otherwise = -EINVAL }, true, false, 997, 997, -EINVAL, 1 },
	{ { { 0, 500 }, .blind = true }, false, false, 997, 997, -EINVAL, 1 },
	{ { { 1000000, 1000000 } }, false, false, 997, 997, 0, 1, true },
	{ { { 1, 1 } }, false, false, 997, 1, 0, 1, true },
	{ { { 100000, 100000 } }, false, true, 997, 997, 0, 1, true },
};

TEST(what_is_refused_is_lowered)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kernel kernel = rows[i].kernel;
		const struct rate_opener opener = { open_event, limit_of, &kernel, rows[i].strict, rows[i].by_default };
		struct perf_event_attr attr = { .freq = !rows[i].is_period, .sample_freq = rows[i].asked };

		assert_int_equal(rate_open(&opener, &attr), rows[i].rc);
		assert_int_equal(attr.sample_freq, rows[i].used);
		assert_int_equal(kernel.opened, rows[i].opened);
	}
}

TEST(a_default_is_not_throttled)
{
	static const struct { uint64_t limit, hz, rate; } steady[] = {
		{ 100000, 250, 98752 }, { 2000, 250, 1732 }, { 1000, 250, 742 }, { 500, 250, 247 }, { 501, 250, 495 },
		{ 500, 100, 396 }, { 250, 250, 250 }, { 100, 1000, 100 }, { 500, 0, 500 },
	};

	for (size_t i = 0; i < COUNT(steady); i++)
		assert_int_equal(rate_steady(steady[i].limit, steady[i].hz), steady[i].rate);
}

/* The kernel's timer goes off every 10000 ns at most, and says nothing of it. */
TEST(a_clock_has_a_shortest_period)
{
	enum { CPU = PERF_COUNT_SW_CPU_CLOCK, TASK = PERF_COUNT_SW_TASK_CLOCK, FAULTS = PERF_COUNT_SW_PAGE_FAULTS };
	static const struct {
		uint64_t config, asked, used;
		bool freq, strict;
		int rc;
	} periods[] = {
		{ CPU, 1, 10000, false, false, 0 }, { TASK, 9999, 10000, false, false, 0 },
		{ CPU, 10000, 10000, false, true, 0 }, { TASK, 20000, 20000, false, true, 0 },
		{ CPU, 9999, 9999, false, true, -ERANGE }, { FAULTS, 1, 1, false, true, 0 },
		{ CPU, 0, 0, false, true, 0 },   /* counted */
		{ TASK, 100001, 100000, true, false, 0 }, { TASK, 100000, 100000, true, true, 0 },
		{ CPU, 200000, 200000, true, true, -ERANGE }, { FAULTS, 200000, 200000, true, true, 0 },
	};

	for (size_t i = 0; i < COUNT(periods); i++) {
		struct kernel kernel = { { 0, 1000000 } };
		const struct rate_opener opener = { open_event, limit_of, &kernel, periods[i].strict };
		struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .config = periods[i].config,
						.freq = periods[i].freq, .sample_period = periods[i].asked };

		assert_int_equal(rate_open(&opener, &attr), periods[i].rc);
		assert_int_equal(attr.sample_period, periods[i].used);
	}
}

/* The limit of a kernel that lies: always below what is asked for. */
static int limit_below(void *ctx, uint64_t *limit)
{
	*limit = --*(uint64_t *)ctx;
	return 0;
}

static int refuse(void *ctx, struct perf_event_attr *attr)
{
	(void)ctx;
	(void)attr;
	return -EINVAL;
}

TEST(it_is_not_tried_for_ever)
{
	uint64_t limit = 1000000;
	const struct rate_opener opener = { refuse, limit_below, &limit, false };
	struct perf_event_attr attr = { .freq = 1, .sample_freq = 1000000 };

	assert_int_equal(rate_open(&opener, &attr), -EINVAL);
	assert_in_range(limit, 999900, 999999);
}

TEST(rates_are_numbers_or_max)
{
	static const char *const bad[] = { "0", "1000001", "-1", "fast", "maximum", "", "10.5" };
	uint64_t rate;
	char text[32];

	assert_int_equal(rate_parse("max", &rate), 0);
	assert_true(rate == RATE_MAX);
	assert_string_equal(rate_text(rate, text, sizeof(text)), "max");
	assert_int_equal(rate_parse("1000000", &rate), 0);
	assert_int_equal(rate, 1000000);
	assert_string_equal(rate_text(rate, text, sizeof(text)), "1000000");
	assert_string_equal(rate_text(0, text, sizeof(text)), "997");
	assert_int_equal(rate_parse(NULL, &rate), -1);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(rate_parse(bad[i], &rate), -1);
}
