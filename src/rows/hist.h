/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations counted in buckets of powers of two, for a picture in text: 1, 2, 4, ... 512 ns, 1, 2, 4, ... 512 us, and so on. The
 * buckets from 512 end at 1000, so that all borders are round numbers.
 */
#ifndef ROWS_HIST_H
#define ROWS_HIST_H

#include <stdint.h>
#include <stdio.h>

enum { HIST_UNITS = 4, HIST_PER_UNIT = 10, HIST_BUCKETS = HIST_UNITS * HIST_PER_UNIT };

/* Zeroed is empty. */
struct hist {
	uint64_t n[HIST_BUCKETS];    /* [0]: up to 1 ns */
};

struct json_object;
void hist_add(struct hist *h, uint64_t ns);
/* The bucket's first ns, and the first one behind it; the last bucket has no end: UINT64_MAX. */
uint64_t hist_from(unsigned int bucket);
uint64_t hist_to(unsigned int bucket);
/* Prints the buckets from the first to the last one with durations, a line each, with bars of at most `width` characters. */
void hist_print(const struct hist *h, unsigned int width, FILE *out);
/* The buckets with durations, in an array: "from", "to" (ns; no "to": no end), "calls". NULL: out of memory. */
struct json_object *hist_json(const struct hist *h);
#endif
