/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?": the most similar name of a set. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

struct nearest {
	const char *wanted;
	unsigned int best;      /* edit distance that a candidate must be below */
	char name[128];         /* "" = nothing near enough */
};

void nearest_begin(struct nearest *n, const char *wanted);
/* Offers a candidate (Damerau-Levenshtein distance, ignoring case, limited). */
void nearest_offer(struct nearest *n, const char *candidate);
/* The best candidate that is similar enough to suggest, or NULL. */
const char *nearest_get(const struct nearest *n);
#endif
