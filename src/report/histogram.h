/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A distribution of unsigned values (latencies in ns, sizes in bytes) in little memory:
 * exact up to 127, above that in 64 steps per power of two, so that a quantile is at most
 * 0.8 % off. Thousands can exist at once: one with its values close together takes under a
 * kilobyte, any takes at most 31 KiB.
 */
#ifndef REPORT_HISTOGRAM_H
#define REPORT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
	HISTOGRAM_BITS = 6,                  /* 2^6 buckets per power of two */
	HISTOGRAM_BUCKETS = (64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS,
	HISTOGRAM_CHUNK = 16,                /* buckets that come into being together */
	HISTOGRAM_CHUNKS = HISTOGRAM_BUCKETS / HISTOGRAM_CHUNK,
};

/* Zeroed is empty. Copying it borrows the chunks: only one of the two may be freed. */
struct histogram {
	uint64_t count;                      /* of the values that were added */
	uint64_t sum;                        /* stops at UINT64_MAX */
	uint64_t min, max;                   /* of them; 0 while there is none */
	uint64_t (*chunks)[HISTOGRAM_CHUNK];
	uint8_t used, room;                  /* chunks */
	uint8_t at[HISTOGRAM_CHUNKS];        /* 1 + which of the chunks; 0: no value is there */
};

/* The slow path of histogram_add(): a value where none was. */
void histogram_add_new(struct histogram *h, unsigned int bucket, uint64_t n);

static inline unsigned int histogram_bucket(uint64_t value)
{
	unsigned int shift = value >> (HISTOGRAM_BITS + 1)
				     ? 63 - HISTOGRAM_BITS - (unsigned int)__builtin_clzll(value)
				     : 0;

	return (shift << HISTOGRAM_BITS) + (unsigned int)(value >> shift);
}

/* n times the same value. Without memory for a value that is unlike all before it, count,
 * mean, min and max have it, and quantiles don't. */
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

/* 0 where there is no value. */
double histogram_mean(const struct histogram *h);
/* The least value that is not below a share p of all values, 0 <= p <= 1: 0.5 the median, 0
 * the minimum, 1 the maximum. 0 where there is no value. */
uint64_t histogram_quantile(const struct histogram *h, double p);
/* Several in one pass; p ascending. */
void histogram_quantiles(const struct histogram *h, const double *p, size_t n, uint64_t *values);

/* Adds all of `from` to h, which is another. */
void histogram_merge(struct histogram *h, const struct histogram *from);
/* No value any more; the memory stays for the next ones. */
void histogram_reset(struct histogram *h);
void histogram_free(struct histogram *h);
/* Bytes, of the struct and behind it. */
size_t histogram_memory(const struct histogram *h);

/* The values from low to high (both included) came n times. Buckets without a value are left
 * out. Returns what fn returned when that was not 0, and then stops. */
int histogram_each(const struct histogram *h,
		   int (*fn)(uint64_t low, uint64_t high, uint64_t n, void *arg), void *arg);
#endif
