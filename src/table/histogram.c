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

static void bounds(unsigned int bucket, uint64_t *low, uint64_t *high)
{
	unsigned int shift = bucket >> (HISTOGRAM_BITS + 1)
				     ? (bucket >> HISTOGRAM_BITS) - 1 : 0;

	*low = (uint64_t)(bucket - (shift << HISTOGRAM_BITS)) << shift;
	*high = *low + ((UINT64_C(1) << shift) - 1);
}

int histogram_each(const struct histogram *h,
		   int (*fn)(uint64_t low, uint64_t high, uint64_t n, void *arg), void *arg)
{
	for (unsigned int c = 0; c < HISTOGRAM_CHUNKS; c++) {
		const uint64_t *chunk = h->at[c] ? h->chunks[h->at[c] - 1] : NULL;

		for (unsigned int i = 0; chunk && i < HISTOGRAM_CHUNK; i++) {
			uint64_t low, high;
			int rc;

			if (!chunk[i])
				continue;
			bounds(c * HISTOGRAM_CHUNK + i, &low, &high);
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
