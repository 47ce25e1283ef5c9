/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles within their error, over the whole range; merging, memory. */
#include "checks.h"

#include "table/histogram.h"

#include <math.h>

static const double error = 0.008;

static uint64_t random_u64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void near(uint64_t got, uint64_t want)
{
	double off = fabs((double)got - (double)want);

	if (off > error * (double)want)
		fail_msg("%llu is not within %g of %llu", (unsigned long long)got, error, (unsigned long long)want);
}

static uint64_t quantile(const struct histogram *h, double p)
{
	uint64_t value;

	histogram_quantiles(h, &p, 1, &value);
	return value;
}

static size_t memory_of(const struct histogram *h)
{
	return sizeof(*h) + h->room * sizeof(*h->chunks);
}

/* Each bucket begins where the one before ends, and every value is in its own. */
static int follows(uint64_t low, uint64_t high, uint64_t n, void *arg)
{
	uint64_t *next = arg;

	assert_int_equal(low, *next);
	assert_true(high >= low);
	ARE(NUMBERS(histogram_bucket(low), n), NUMBERS(histogram_bucket(high), histogram_bucket(low) + 1));
	assert_true(low < 128 ? high == low : (double)(high - low + 1) / (double)low <= 1 / 64.0);
	*next = high + 1;
	return 0;
}

TEST(buckets_leave_no_gap)
{
	struct histogram h = { 0 };
	uint64_t next = 0, value = 0;
	unsigned int last = 0;

	assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
	for (;;) {
		histogram_add_n(&h, value, histogram_bucket(value) + 1);
		if (histogram_bucket(value) == HISTOGRAM_BUCKETS - 1)
			break;
		last = histogram_bucket(value);
		value = value < 128 ? value + 1 : value + (UINT64_C(1) << (last / 64 - 1));
		assert_int_equal(histogram_bucket(value), last + 1);
	}
	assert_int_equal(histogram_each(&h, follows, &next), 0);
	assert_int_equal(next, 0);   /* past UINT64_MAX */
	assert_true(memory_of(&h) <= 31 * 1024);
	histogram_free(&h);
}

TEST(extremes_and_small_values_are_exact)
{
	struct histogram h = { 0 }, small = { 0 };

	assert_true(histogram_mean(&h) == 0);
	ARE(NUMBERS(h.count, quantile(&h, 0.5), quantile(&h, 1)), NUMBERS(0, 0, 0));
	for (uint64_t v = 1; v <= 100; v++)
		histogram_add(&small, v);
	for (int p = 1; p <= 100; p++)
		assert_int_equal(quantile(&small, p / 100.0), p);
	assert_true(histogram_mean(&small) == 50.5);
	histogram_free(&small);
	histogram_add(&h, 1000003);
	assert_int_equal(quantile(&h, 0.5), 1000003);
	histogram_add(&h, UINT64_MAX);
	histogram_add(&h, 77);
	ARE(NUMBERS(h.min, h.max, quantile(&h, 0), quantile(&h, 1)), NUMBERS(77, UINT64_MAX, 77, UINT64_MAX));
	near(quantile(&h, 0.5), 1000003);
	assert_int_equal(h.sum, UINT64_MAX);   /* it stops there */
	histogram_free(&h);
}

enum { MANY = 100000 };

/* Of values over ten orders of magnitude, against sorting them. */
TEST(quantiles_are_near)
{
	static const double p[] = { 0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1 };
	uint64_t seed = 88172645463325252u, got[COUNT(p)];
	uint64_t *values = malloc(MANY * sizeof(*values));
	struct histogram h = { 0 };
	double sum = 0;

	for (size_t i = 0; i < MANY; i++) {
		values[i] = random_u64(&seed) >> (20 + i % 40);
		sum += (double)values[i];
		histogram_add(&h, values[i]);
	}
	qsort(values, MANY, sizeof(*values), by_value);
	histogram_quantiles(&h, p, COUNT(p), got);
	for (size_t i = 0; i < COUNT(p); i++) {
		size_t rank = (size_t)ceil(p[i] * MANY);

		near(got[i], values[rank ? rank - 1 : 0]);
		assert_int_equal(got[i], quantile(&h, p[i]));
	}
	assert_true(fabs(histogram_mean(&h) - sum / MANY) <= 1e-9 * sum / MANY);
	histogram_free(&h);
	free(values);
}

TEST(merged_is_as_added)
{
	struct histogram a = { 0 }, b = { 0 }, all = { 0 }, none = { 0 };
	uint64_t seed = 42;

	for (int i = 0; i < 10000; i++) {
		uint64_t v = (random_u64(&seed) >> (i % 60)) + (i % 3 ? 50 : 7);

		histogram_add(i % 3 ? &a : &b, v);
		histogram_add(&all, v);
	}
	histogram_merge(&a, &b);
	histogram_merge(&a, &none);
	ARE(NUMBERS(a.count, a.sum, a.min, a.max), NUMBERS(all.count, all.sum, all.min, all.max));
	for (int p = 0; p <= 1000; p++)
		assert_int_equal(quantile(&a, p / 1000.0), quantile(&all, p / 1000.0));
	histogram_merge(&none, &b);
	assert_int_equal(none.min, b.min);
	histogram_free(&a);
	histogram_free(&b);
	histogram_free(&all);
	histogram_free(&none);
}

/* What thousands of them rest on. */
TEST(one_with_like_values_is_small)
{
	struct histogram h = { 0 };

	for (uint64_t v = 50000; v < 70000; v++)
		histogram_add(&h, v);
	assert_true(memory_of(&h) < 1024);
	histogram_free(&h);
}
