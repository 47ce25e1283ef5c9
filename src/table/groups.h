/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded hash table: a key of several words to a group, which has cells. Groups are numbered as they come. */
#ifndef TABLE_GROUPS_H
#define TABLE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_GROUP UINT32_MAX

/* One value of a group. */
struct cell {
	uint64_t value;
	uint64_t n;                     /* how many values it is of */
};

struct groups {
	uint32_t *slots;                /* number + 1 by hash, open addressing; 0: free */
	uint32_t mask, n, room, max;
	uint32_t words, cells;          /* of each group */
	uint32_t *hashes;
	uint64_t *keys;
	struct cell *values;
};

/* 0 or -ENOMEM. */
int groups_begin(struct groups *g, uint32_t words, uint32_t cells, uint32_t max);
void groups_end(struct groups *g);
/* Forgets all groups. */
void groups_clear(struct groups *g);
/* The group of that key, maybe a new one with zeroed cells; NO_GROUP: there are `max`, or no memory. */
uint32_t groups_find(struct groups *g, const uint64_t *key);

static inline const uint64_t *groups_key(const struct groups *g, uint32_t group)
{
	return g->keys + (size_t)group * g->words;
}

static inline struct cell *groups_cell(const struct groups *g, uint32_t group, uint32_t cell)
{
	return g->values + (size_t)group * g->cells + cell;
}
#endif
