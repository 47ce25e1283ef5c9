/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions were sampled, before anybody knows their names: the addresses in samples that lie in code
 * which their process has made. A set of bounded size.
 */
#ifndef STREAM_CODE_JITMARKS_H
#define STREAM_CODE_JITMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JITMARKS_OWNERS = 256, JITCODE_RANGES = 8 };

/* Where a process has code that it made. Of more ranges, those nearest to each other become one. */
struct jitcode {
	struct jitcode_range { uint64_t start, end; } v[JITCODE_RANGES];
	unsigned int n;
	uint64_t low, size;      /* around all of them */
};

void jitcode_add(struct jitcode *c, uint64_t start, uint64_t end);

struct jitmarks;

/* NULL without memory. */
struct jitmarks *jitmarks_new(void);
void jitmarks_free(struct jitmarks *m);
/* Those of the words that are in the code, of an owner below JITMARKS_OWNERS. */
void jitmarks_add(struct jitmarks *m, unsigned int owner, const struct jitcode *code, const uint64_t *words, size_t n);
/* Some had no place: who asks has to take all for sampled. */
bool jitmarks_are_cut(const struct jitmarks *m);
/* One after the other, in no order: *at begins with 0. */
bool jitmarks_next(const struct jitmarks *m, size_t *at, unsigned int *owner, uint64_t *addr);
void jitmarks_clear(struct jitmarks *m);
#endif
