/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group by key: a hash table from keys to rows, which begin with zeros and which the caller counts in. Rows keep their addresses,
 * and stay in the order in which they came, or of groups_sort().
 *
 *	struct cause {
 *		pid_t tid;                           the key: the first bytes of a row, without padding
 *		uint64_t ns;
 *	} *c = groups_get(&g, &tid, sizeof(tid), sizeof(*c), MAX);
 *
 *	for (c = groups_first(&g); c; c = groups_next(c))
 *		print(c);
 */
#ifndef TABLE_GROUPS_H
#define TABLE_GROUPS_H

#include "base/hash.h"

#include <stdbool.h>

/* Stands before its row. */
struct group {
	struct group *prev, *next;      /* prev of the first: the last */
	uint32_t place, len;            /* len: of the key */
};

/* Rows lie in blocks, each twice as large as the one before: block k has the places from 1 << k on, of 8 bytes each. */
enum { GROUPS_PLACE = 8, GROUPS_BLOCKS = sizeof(size_t) > 4 ? 32 : 29 };

struct groups_slot {
	uint32_t hash, place;           /* place 0: free */
};

/* Zeroed is empty. */
struct groups {
	struct groups_slot *slots;      /* open addressing: at least twice as many as rows */
	uintptr_t *blocks;              /* where place 0 of each block would be; 0: not allocated */
	struct group *first;
	struct group *spare;            /* dropped rows, linked by prev */
	uint32_t mask, n;               /* n: rows */
	uint32_t used, end;             /* places: of the present block, those from `used` to `end` are free */
	size_t at;                      /* of the key in a row */
};

/* A new row with that key, which must not be there; the key is copied to `at`. NULL: out of memory. */
void *groups_add(struct groups *g, const void *key, size_t len, size_t at, size_t size);
/* Takes the row out: it is no longer found, and the next new row takes its place. Until then groups_next() goes on from it.
 * All rows of such a table have one size. */
void groups_drop(struct groups *g, void *row);
/* Drops all rows; their memory stays for the next ones. */
void groups_clear(struct groups *g);
/* Frees all rows: the table is empty. */
void groups_free(struct groups *g);
/* Sorts the rows; equal ones stay in their order. */
void groups_sort(struct groups *g, int (*compare)(const void *a, const void *b));

static inline struct group *groups_place(const struct groups *g, uint32_t place)
{
	return (struct group *)(g->blocks[31 - __builtin_clz(place)] + (uintptr_t)place * GROUPS_PLACE);
}

static inline bool groups_is_key(const void *a, const void *b, size_t len)
{
	uint64_t word[2];

	if (__builtin_constant_p(len) || len % sizeof(*word))
		return !memcmp(a, b, len);
	for (size_t i = 0; i < len; i += sizeof(*word)) {
		memcpy(&word[0], (const char *)a + i, sizeof(*word));
		memcpy(&word[1], (const char *)b + i, sizeof(*word));
		if (word[0] != word[1])
			return false;
	}
	return true;
}

static inline void *groups_look(const struct groups *g, const void *key, size_t len)
{
	const uint32_t hash = (uint32_t)hash_words(key, len);

	for (uint32_t at = hash & g->mask; g->n && g->slots[at].place; at = (at + 1) & g->mask) {
		struct group *one;

		if (g->slots[at].hash != hash)
			continue;
		one = groups_place(g, g->slots[at].place);
		if (one->len == len && groups_is_key((const char *)(one + 1) + g->at, key, len))
			return one + 1;
	}
	return NULL;
}

/* As groups_find(): of keys whose length the compiler does not know. */
void *groups_find_any(const struct groups *g, const void *key, size_t len);

/* The row with that key; NULL: there is none. */
static inline void *groups_find(const struct groups *g, const void *key, size_t len)
{
	return __builtin_constant_p(len) ? groups_look(g, key, len) : groups_find_any(g, key, len);
}

/* The row with that key, of `size` bytes if it is new. NULL: there are `max`, or out of memory. */
static inline void *groups_get(struct groups *g, const void *key, size_t len, size_t size, size_t max)
{
	void *row = groups_find(g, key, len);

	return row || g->n >= max ? row : groups_add(g, key, len, 0, size);
}

/* As groups_get(); but instead of more than `max`, the table begins anew. */
static inline void *groups_recent(struct groups *g, const void *key, size_t len, size_t size, size_t max)
{
	void *row = groups_find(g, key, len);

	if (!row && g->n >= max)
		groups_clear(g);
	return row ? row : groups_add(g, key, len, 0, size);
}

/* The key is a text of `len` bytes, which stands behind the `size` bytes of the row and ends with NUL: its last member is text[]. */
static inline void *groups_text(struct groups *g, const char *text, size_t len, size_t size, size_t max)
{
	void *row = groups_find(g, text, len);

	return row || g->n >= max ? row : groups_add(g, text, len, size, size + len + 1);
}

/* The length of the row's key. */
static inline size_t groups_len(const void *row)
{
	return ((const struct group *)row - 1)->len;
}

static inline void *groups_first(const struct groups *g)
{
	return g->first ? g->first + 1 : NULL;
}

static inline void *groups_next(const void *row)
{
	const struct group *one = (const struct group *)row - 1;

	return one->next ? one->next + 1 : NULL;
}
#endif
