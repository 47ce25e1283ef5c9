/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A distribution of unsigned values (latencies in ns, sizes in bytes) in little memory: exact up
 * to 127, above that in 64 steps per power of two, so that the error of a quantile is at most 0.8
 * %. Thousands can exist at once: a histogram of similar values takes less than a kilobyte, any
 * takes at most 31 KiB.
 */
#ifndef TABLE_HISTOGRAM_H
#define TABLE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Buckets of values. log2: 0, 1, 2-3, 4-7, ...; linear: of `step` values each; log-linear: `step` (a power of two) buckets for each
 * power of two, exact below that. Below 0 they are the same, mirrored, but linear ones go on. times: 0-1, 2-3, 4-7, ... 512-999 ns,
 * then 1-2 us and so on: all begin at round numbers, and the last one, from 512 s, has no end.
 */
enum bucket_kind { BUCKETS_LOG2, BUCKETS_LINEAR, BUCKETS_LOGLINEAR, BUCKETS_TIMES };

struct buckets {
	enum bucket_kind kind;
	bool is_signed;
	uint64_t step;                       /* log2: 1 */
};

/* The first and the last value of the bucket that has `value`: int64 if signed. */
void bucket_of(const struct buckets *b, uint64_t value, uint64_t *low, uint64_t *high);

enum {
	HISTOGRAM_BITS = 6,                  /* 2^6 buckets per power of two */
	HISTOGRAM_BUCKETS = (64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS,
	HISTOGRAM_CHUNK = 16,                /* buckets allocated together */
	HISTOGRAM_CHUNKS = HISTOGRAM_BUCKETS / HISTOGRAM_CHUNK,
};

/* Zeroed is empty. A copy shares the chunks: free only one of the two. */
struct histogram {
	uint64_t count;                      /* number of values */
	uint64_t sum;                        /* saturates at UINT64_MAX */
	uint64_t min, max;                   /* 0 if there is no value */
	uint64_t (*chunks)[HISTOGRAM_CHUNK];
	uint8_t used, room;                  /* chunks */
	uint8_t at[HISTOGRAM_CHUNKS];        /* 1 + index of the chunk; 0: no values */
};

/* Slow path of histogram_add(): the first value in a chunk. */
void histogram_add_new(struct histogram *h, unsigned int bucket, uint64_t n);

static inline unsigned int histogram_bucket(uint64_t value)
{
	unsigned int shift = value >> (HISTOGRAM_BITS + 1)
				     ? 63 - HISTOGRAM_BITS - (unsigned int)__builtin_clzll(value)
				     : 0;

	return (shift << HISTOGRAM_BITS) + (unsigned int)(value >> shift);
}

/* Adds a value n times. If there is no memory for a new chunk, count, mean, min and max include
 * the value, but quantiles do not. */
static inline void histogram_add_n(struct histogram *h, uint64_t value, uint64_t n)
{
	unsigned int bucket = histogram_bucket(value);
	unsigned int at = h->at[bucket / HISTOGRAM_CHUNK];
	uint64_t sum;

	if (!n)
		return;
	if (value > h->max)
		h->max = value;
	if (value < h->min || !h->count)
		h->min = value;
	h->count += n;
	if (__builtin_mul_overflow(value, n, &sum) || __builtin_add_overflow(h->sum, sum, &h->sum))
		h->sum = UINT64_MAX;
	if (at)
		h->chunks[at - 1][bucket % HISTOGRAM_CHUNK] += n;
	else
		histogram_add_new(h, bucket, n);
}

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	histogram_add_n(h, value, 1);
}

/* 0 if there is no value. */
double histogram_mean(const struct histogram *h);
/* For each p the smallest value such that a share p of all values is not above it, 0 <= p <= 1: 0.5 is the
 * median, 0 the minimum, 1 the maximum. 0 if there is no value. p in ascending order. */
void histogram_quantiles(const struct histogram *h, const double *p, size_t n, uint64_t *values);

/* Adds all values in `from`, another histogram, to h. */
void histogram_merge(struct histogram *h, const struct histogram *from);
void histogram_free(struct histogram *h);

/* Calls fn with each bucket that has values: n values from low to high (inclusive). Stops when fn
 * returns other than 0, and returns that. */
int histogram_each(const struct histogram *h,
		   int (*fn)(uint64_t low, uint64_t high, uint64_t n, void *arg), void *arg);
#endif
