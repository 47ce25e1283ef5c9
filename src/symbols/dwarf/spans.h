/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses that lie in each other, as functions inlined into functions do, laid
 * flat: which of them is meant at an address. Any ranges will do, overlapping ones too.
 */
#ifndef SYMBOLS_DWARF_SPANS_H
#define SYMBOLS_DWARF_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t start, end;     /* end: behind its last byte */
	uint32_t value;
	uint32_t depth;          /* the deepest is meant, of several the one that came first */
};

struct spans {
	struct span *all;
	size_t n, cap;
};

/* From `start` up to the next one's start the value holds; the last one ends it with 0. */
struct flat_span {
	uint64_t start;
	uint32_t value;
};

/* 0 or -ENOMEM. Empty ones are left out. */
int spans_add(struct spans *s, uint64_t start, uint64_t end, uint32_t value, uint32_t depth);
void spans_free(struct spans *s);
/* Sorts s, and gives at most 2 n + 1 flat ones, to be freed; NULL without memory. */
struct flat_span *spans_flatten(struct spans *s, size_t *n);
#endif
