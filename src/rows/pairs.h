/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of events: one begins something, another with the same key ends it. The caller says what each sample begins or
 * ends; the pairs that have begun and not ended are kept here.
 */
#ifndef ROWS_PAIRS_H
#define ROWS_PAIRS_H

#include "base/hash.h"
#include "engine/analysis.h"

/* A pair that has begun and not ended. Or one that has ended, and keeps its place for the next pair with its key. */
struct open_pair {
	uint64_t key, start;
	uint64_t value;              /* what pairs_start() was given */
	bool is_open;
	UT_hash_handle hh;
};

enum { PAIRS_MAX_OPEN = 1 << 20 };

/* Zeroed is empty. */
struct pairs {
	struct open_pair *all;
	struct open_pair *spare;     /* without a key, linked by hh.next */
	size_t nopen;
	uint64_t restarted;          /* begun again before they ended */
	uint64_t unbegun;            /* ended, but their beginning was not seen */
	uint64_t refused;            /* begun, but PAIRS_MAX_OPEN were open */
};

void pairs_free(struct pairs *p);
/* value: the caller's own, returned when the pair ends. */
void pairs_start(struct pairs *p, const struct analysis_sample *s, uint64_t key, uint64_t value);
/* The open pair with that key; if there is none, one that began at `since` with value 0. NULL: there is no room. */
struct open_pair *pairs_open(struct pairs *p, uint64_t key, uint64_t since);
/* The open pair with that key, or NULL. Valid until it is closed. */
struct open_pair *pairs_find(struct pairs *p, uint64_t key);

struct pair_end {
	uint64_t start, duration;    /* perf clock, ns */
	uint64_t value;              /* what pairs_start() was given */
};
/* Ends the pair with that key. False if none was open: it counts as unbegun. */
bool pairs_end(struct pairs *p, const struct analysis_sample *s, uint64_t key, struct pair_end *end);
/* Ends an open pair at the sample, and begins it again there with another value. */
void pairs_turn(struct open_pair *o, const struct analysis_sample *s, uint64_t value, struct pair_end *end);
/* Ends an open pair at the sample. */
void pairs_close(struct pairs *p, struct open_pair *o, const struct analysis_sample *s, struct pair_end *end);
/* Drops an open pair whose end is not known. */
void pairs_cancel(struct pairs *p, struct open_pair *o);
#endif
