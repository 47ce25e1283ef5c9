/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?": the nearest of a set of names. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *wanted;
	unsigned int best;      /* distance of the best so far */
	char name[128];         /* "" = nothing near enough */
};

void nearest_begin(struct nearest *n, const char *wanted);
/* Offers a candidate (Damerau-Levenshtein, case folded, bounded). */
void nearest_offer(struct nearest *n, const char *candidate);
/* The best candidate that is near enough to be worth telling, else NULL. */
const char *nearest_get(const struct nearest *n);
#endif
