/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets of histograms. log2: 0, 1, 2-3, 4-7, ...; linear: of `step` values each; log-linear: `step` (a power of two)
 * buckets for each power of two, exact below that. Below 0 they are the same, mirrored, but linear ones go on.
 */
#ifndef TABLE_BUCKETS_H
#define TABLE_BUCKETS_H

#include <stdbool.h>
#include <stdint.h>

enum bucket_kind { BUCKETS_LOG2, BUCKETS_LINEAR, BUCKETS_LOGLINEAR };

struct buckets {
	enum bucket_kind kind;
	bool is_signed;
	uint64_t step;                  /* log2: 1 */
};

/* The first and the last value of the bucket that has `value`: int64 if signed. */
static inline void bucket_of(const struct buckets *b, uint64_t value, uint64_t *low, uint64_t *high)
{
	bool negative = b->is_signed && (int64_t)value < 0;
	uint64_t size = negative ? -value : value, top = UINT64_MAX;
	unsigned int shift = 0;

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
#endif
