/* SPDX-License-Identifier: Apache-2.0 */
#include "table/groups.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

int groups_begin(struct groups *g, uint32_t words, uint32_t cells, uint32_t max)
{
	*g = (struct groups){ .mask = 2 * FIRST_ROOM - 1, .room = FIRST_ROOM, .max = max, .words = words, .cells = cells };
	g->slots = calloc(2 * FIRST_ROOM, sizeof(*g->slots));
	g->hashes = calloc(FIRST_ROOM, sizeof(*g->hashes));
	g->keys = calloc(FIRST_ROOM * (size_t)words, sizeof(*g->keys));
	g->values = calloc(FIRST_ROOM * (size_t)cells, sizeof(*g->values));
	return g->slots && g->hashes && g->keys && g->values ? 0 : -ENOMEM;
}

void groups_end(struct groups *g)
{
	free(g->slots);
	free(g->hashes);
	free(g->keys);
	free(g->values);
	*g = (struct groups){ 0 };
}

void groups_clear(struct groups *g)
{
	memset(g->slots, 0, ((size_t)g->mask + 1) * sizeof(*g->slots));
	g->n = 0;
}

static void place(struct groups *g, uint32_t group)
{
	uint32_t at = g->hashes[group] & g->mask;

	while (g->slots[at])
		at = (at + 1) & g->mask;
	g->slots[at] = group + 1;
}

#define GROW(array, each)                                                                          \
	({                                                                                         \
		void *more_ = reallocarray((array), (size_t)room * (each), sizeof(*(array)));      \
                                                                                                   \
		if (more_)                                                                         \
			(array) = more_;                                                           \
		more_ != NULL;                                                                     \
	})

static int grow(struct groups *g)
{
	uint32_t room = 2 * g->room, *slots;

	if (!GROW(g->hashes, 1) || !GROW(g->keys, g->words) || !GROW(g->values, g->cells))
		return -ENOMEM;
	slots = calloc(2 * (size_t)room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(g->slots);
	g->slots = slots;
	g->room = room;
	g->mask = 2 * room - 1;
	for (uint32_t i = 0; i < g->n; i++)
		place(g, i);
	return 0;
}

static uint32_t add(struct groups *g, const uint64_t *key, uint32_t hash)
{
	if (g->n >= g->max || (g->n == g->room && grow(g)))
		return NO_GROUP;
	g->hashes[g->n] = hash;
	memcpy(g->keys + (size_t)g->n * g->words, key, g->words * sizeof(*key));
	memset(groups_cell(g, g->n, 0), 0, g->cells * sizeof(struct cell));
	place(g, g->n);
	return g->n++;
}

static inline bool is_key(const struct groups *g, uint32_t group, const uint64_t *key)
{
	const uint64_t *have = groups_key(g, group);

	for (uint32_t i = 0; i < g->words; i++)
		if (have[i] != key[i])
			return false;
	return true;
}

uint32_t groups_find(struct groups *g, const uint64_t *key)
{
	uint32_t hash = (uint32_t)hash_words(key, g->words * sizeof(*key));

	for (uint32_t at = hash & g->mask; g->slots[at]; at = (at + 1) & g->mask)
		if (g->hashes[g->slots[at] - 1] == hash && is_key(g, g->slots[at] - 1, key))
			return g->slots[at] - 1;
	return add(g, key, hash);
}
