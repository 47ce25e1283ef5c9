/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookup in sorted numbers: their range is divided into parts, each with the index of its first
 * number, so that only a few neighbours are searched.
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

/* Whether the keys ascend, as ladder_build() requires. */
bool ladder_is(const uint32_t *keys, size_t n);
/* The caller keeps ownership of the keys. False: out of memory. */
bool ladder_build(struct ladder *l, const uint32_t *keys, size_t n);
void ladder_free(struct ladder *l);
size_t ladder_bytes(const struct ladder *l);
/* The index of the last key <= `key`; l->n: there is none. */
size_t ladder_find(const struct ladder *l, uint32_t key);
#endif
