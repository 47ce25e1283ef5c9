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
	uint32_t hash, len;             /* of the key */
};

/* Zeroed is empty. */
struct groups {
	struct group **slots;           /* by hash, open addressing: at least twice as many as rows */
	struct group *first;
	struct group *spare;            /* dropped rows, linked by prev */
	struct groups_block *blocks, *block;   /* memory of rows, and the block that has room */
	uint32_t mask, n;               /* n: rows */
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

/* The row with that key; NULL: there is none. */
static inline void *groups_find(const struct groups *g, const void *key, size_t len)
{
	const uint32_t hash = (uint32_t)hash_words(key, len);
	struct group *one;

	for (uint32_t at = hash & g->mask; g->n && (one = g->slots[at]); at = (at + 1) & g->mask)
		if (one->hash == hash && one->len == len && !memcmp((const char *)(one + 1) + g->at, key, len))
			return one + 1;
	return NULL;
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
