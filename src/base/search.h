/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in what is sorted. */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/* The first index i from `low` on for which `before`, an expression with i, is false; `high` if it is true for all below.
 * It must be true up to there, and false from there on. */
#define FIRST_NOT(i, low, high, before)                                                            \
	({                                                                                         \
		size_t low_ = (low), high_ = (high);                                               \
                                                                                                   \
		while (low_ < high_) {                                                             \
			size_t i = low_ + (high_ - low_) / 2;                                      \
                                                                                                   \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})
#endif
