/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flattens nested ranges of addresses, such as functions inlined into functions: the innermost
 * range at each address. Ranges may also overlap in other ways.
 */
#ifndef SYMBOLS_DWARF_SPANS_H
#define SYMBOLS_DWARF_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t start, end;     /* end: after its last byte */
	uint32_t value;
	uint32_t depth;          /* the deepest range is used; if equal, the first one added */
};

struct spans {
	struct span *all;
	size_t n, cap;
};

/* The value holds from `start` to the next one's start; the last one has the value 0. */
struct flat_span {
	uint64_t start;
	uint32_t value;
};

/* 0 or -ENOMEM. Empty ranges are left out. */
int spans_add(struct spans *s, uint64_t start, uint64_t end, uint32_t value, uint32_t depth);
void spans_free(struct spans *s);
/* Sorts s, and returns at most 2 n + 1 flat spans, to be freed; NULL: out of memory. */
struct flat_span *spans_flatten(struct spans *s, size_t *n);
#endif
