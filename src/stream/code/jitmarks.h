/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions were sampled, before their names are known: the addresses in samples that lie in
 * code made by their process. A set of bounded size.
 */
#ifndef STREAM_CODE_JITMARKS_H
#define STREAM_CODE_JITMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JITMARKS_OWNERS = 256, JITCODE_RANGES = 8 };

/* Address ranges of a process with generated code. If there are too many, the two nearest ranges
 * are joined. */
struct jitcode {
	struct jitcode_range { uint64_t start, end; } v[JITCODE_RANGES];
	unsigned int n;
	uint64_t low, size;      /* the span from the lowest start to the highest end */
};

void jitcode_add(struct jitcode *c, uint64_t start, uint64_t end);

struct jitmarks;

/* NULL without memory. */
struct jitmarks *jitmarks_new(void);
void jitmarks_free(struct jitmarks *m);
/* Adds those of the words that point into the code. owner: below JITMARKS_OWNERS. */
void jitmarks_add(struct jitmarks *m, unsigned int owner, const struct jitcode *code, const uint64_t *words, size_t n);
/* Whether addresses were dropped for lack of room: then treat all functions as sampled. */
bool jitmarks_are_cut(const struct jitmarks *m);
/* Iterates in no particular order; *at starts at 0. */
bool jitmarks_next(const struct jitmarks *m, size_t *at, unsigned int *owner, uint64_t *addr);
void jitmarks_clear(struct jitmarks *m);
#endif
