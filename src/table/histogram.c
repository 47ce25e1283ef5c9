/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bucket of a value: 64 s + (value >> s), with s = 0 for values below 128, else such that 64 <=
 * value >> s < 128. Values below 128 have buckets of their own, and the numbers have no gaps. 16
 * adjacent buckets are a chunk, allocated with its first value and kept until histogram_free().
 */
#include "table/histogram.h"

#include <stdlib.h>
#include <string.h>

void histogram_add_new(struct histogram *h, unsigned int bucket, uint64_t n)
{
	unsigned int chunk = bucket / HISTOGRAM_CHUNK;

	if (h->used == h->room) {
		unsigned int room = h->room ? h->room * 2u : 2;
		void *chunks;

		if (room > HISTOGRAM_CHUNKS)
			room = HISTOGRAM_CHUNKS;
		chunks = realloc(h->chunks, room * sizeof(*h->chunks));
		if (!chunks)
			return;
		h->chunks = chunks;
		h->room = (uint8_t)room;
	}
	memset(h->chunks[h->used], 0, sizeof(*h->chunks));
	h->at[chunk] = ++h->used;
	h->chunks[h->used - 1][bucket % HISTOGRAM_CHUNK] = n;
}

static void time_bucket(uint64_t ns, uint64_t *low, uint64_t *high)
{
	enum { LAST_POWER = 9 };     /* 512 */
	const uint64_t last_unit = UINT64_C(1000000000);
	unsigned int power = 0;
	uint64_t unit = 1;

	while (unit < last_unit && ns / unit >= 1000)
		unit *= 1000;
	if (ns > 1)
		power = 63 - (unsigned int)__builtin_clzll(ns / unit);
	power = power < LAST_POWER ? power : LAST_POWER;
	*low = ns > 1 ? unit << power : 0;
	*high = (power < LAST_POWER ? unit << (power + 1) : unit < last_unit ? unit * 1000 : 0) - 1;
}

void bucket_of(const struct buckets *b, uint64_t value, uint64_t *low, uint64_t *high)
{
	bool negative = b->is_signed && (int64_t)value < 0;
	uint64_t size = negative ? -value : value, top = UINT64_MAX;
	unsigned int shift = 0;

	if (b->kind == BUCKETS_TIMES) {
		time_bucket(value, low, high);
		return;
	}
	if (b->kind == BUCKETS_LINEAR) {
		/* a bucket never crosses 0: the first one below it ends at -1 */
		*low = negative ? (size - 1) / b->step * b->step + 1 : size / b->step * b->step;
		*high = *low + (b->step - 1);
	} else {
		if (size >= b->step)
			shift = (unsigned int)(63 - __builtin_clzll(size) - __builtin_ctzll(b->step));
		*low = size >> shift << shift;
		*high = *low + ((UINT64_C(1) << shift) - 1);
	}
	if (b->is_signed)
		top = negative ? UINT64_C(1) << 63 : INT64_MAX;
	if (*high > top || *high < *low)
		*high = top;
	if (negative) {
		uint64_t last = -*low;

		*low = -*high;
		*high = last;
	}
}
/* The first value of a bucket of histogram_bucket(). */
static uint64_t first_of(unsigned int bucket)
{
	unsigned int shift = bucket >> (HISTOGRAM_BITS + 1) ? (bucket >> HISTOGRAM_BITS) - 1 : 0;

	return (uint64_t)(bucket - (shift << HISTOGRAM_BITS)) << shift;
}

int histogram_each(const struct histogram *h,
		   int (*fn)(uint64_t low, uint64_t high, uint64_t n, void *arg), void *arg)
{
	static const struct buckets fine = { BUCKETS_LOGLINEAR, false, 1 << HISTOGRAM_BITS };

	for (unsigned int c = 0; c < HISTOGRAM_CHUNKS; c++) {
		const uint64_t *chunk = h->at[c] ? h->chunks[h->at[c] - 1] : NULL;

		for (unsigned int i = 0; chunk && i < HISTOGRAM_CHUNK; i++) {
			uint64_t low, high;
			int rc;

			if (!chunk[i])
				continue;
			bucket_of(&fine, first_of(c * HISTOGRAM_CHUNK + i), &low, &high);
			rc = fn(low, high, chunk[i], arg);
			if (rc)
				return rc;
		}
	}
	return 0;
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

struct quantiles {
	const struct histogram *h;
	const double *p;
	size_t n, done;
	uint64_t seen;
	uint64_t *values;
};

/* Number of values not above the quantile: at least one. 0.07 of 100 is 7, even if the product is
 * slightly more. */
static uint64_t rank_of(const struct histogram *h, double p)
{
	double exact = p * (double)h->count * (1 - 1e-12);
	uint64_t rank = exact <= 1 ? 1 : exact >= (double)h->count ? h->count : (uint64_t)exact;

	return rank + ((double)rank < exact && rank < h->count);
}

static uint64_t within(const struct histogram *h, uint64_t value)
{
	return value < h->min ? h->min : value > h->max ? h->max : value;
}

static int pass(uint64_t low, uint64_t high, uint64_t n, void *arg)
{
	struct quantiles *q = arg;

	q->seen += n;
	for (; q->done < q->n && rank_of(q->h, q->p[q->done]) <= q->seen; q->done++)
		q->values[q->done] = within(q->h, low + (high - low) / 2);
	return q->done == q->n;
}

void histogram_quantiles(const struct histogram *h, const double *p, size_t n, uint64_t *values)
{
	struct quantiles q = { h, p, n, 0, 0, values };

	histogram_each(h, pass, &q);
	for (; q.done < n; q.done++)   /* no values at all, or one without memory */
		values[q.done] = h->max;
	for (size_t i = 0; i < n && h->count; i++) {   /* exact values */
		uint64_t rank = rank_of(h, p[i]);

		if (rank == 1 || rank == h->count)
			values[i] = rank == h->count ? h->max : h->min;
	}
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
	if (!from->count)
		return;
	if (from->max > h->max)
		h->max = from->max;
	if (from->min < h->min || !h->count)
		h->min = from->min;
	h->count += from->count;
	if (__builtin_add_overflow(h->sum, from->sum, &h->sum))
		h->sum = UINT64_MAX;
	for (unsigned int c = 0; c < HISTOGRAM_CHUNKS; c++) {
		const uint64_t *chunk = from->at[c] ? from->chunks[from->at[c] - 1] : NULL;

		for (unsigned int i = 0; chunk && i < HISTOGRAM_CHUNK; i++) {
			if (!chunk[i])
				continue;
			if (h->at[c])
				h->chunks[h->at[c] - 1][i] += chunk[i];
			else
				histogram_add_new(h, c * HISTOGRAM_CHUNK + i, chunk[i]);
		}
	}
}

void histogram_free(struct histogram *h)
{
	free(h->chunks);
	*h = (struct histogram){ 0 };
}
