/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search among sorted numbers: their range is cut into parts, and for each part it is
 * known where its numbers begin. What is left is a search of a few neighbours.
 */
#ifndef SYMBOLS_DWARF_LADDER_H
#define SYMBOLS_DWARF_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero at first. */
struct ladder {
	const uint32_t *keys;
	size_t n, nparts;
	unsigned int shift;      /* a part is 1 << shift long */
	uint32_t *parts;         /* nparts + 1 */
};

/* Whether the keys ascend, which others don't for ladder_build(). */
bool ladder_is(const uint32_t *keys, size_t n);
/* The keys stay the caller's. False without memory. */
bool ladder_build(struct ladder *l, const uint32_t *keys, size_t n);
void ladder_free(struct ladder *l);
size_t ladder_bytes(const struct ladder *l);
/* The index of the last key that isn't greater; l->n: there is none. */
size_t ladder_find(const struct ladder *l, uint32_t key);
#endif
