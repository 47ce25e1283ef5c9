/* SPDX-License-Identifier: Apache-2.0 */
#include "table/groups.h"

#include <utlist.h>

enum { FIRST_SLOTS = 16, FIRST_BLOCK = 5 };   /* FIRST_BLOCK: of 256 bytes */

static void put(struct groups *g, struct groups_slot slot)
{
	uint32_t at = slot.hash & g->mask;

	while (g->slots[at].place)
		at = (at + 1) & g->mask;
	g->slots[at] = slot;
}

static bool grow(struct groups *g)
{
	const size_t before = g->slots ? (size_t)g->mask + 1 : 0, n = before ? 2 * before : FIRST_SLOTS;
	struct groups_slot *old = g->slots, *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	g->slots = slots;
	g->mask = (uint32_t)(n - 1);
	for (size_t i = 0; i < before; i++)
		if (old[i].place)
			put(g, old[i]);
	free(old);
	return true;
}

/* The next block in which there is room for so many places. */
static bool next_block(struct groups *g, size_t places)
{
	unsigned int k = g->end ? 31 - (unsigned int)__builtin_clz(g->end) : FIRST_BLOCK;
	char *bytes;

	while (k < GROUPS_BLOCKS - 1 && (size_t)1 << k < places)
		k++;
	if (k == GROUPS_BLOCKS - 1 || (!g->blocks && !(g->blocks = calloc(GROUPS_BLOCKS, sizeof(*g->blocks)))))
		return false;
	if (!g->blocks[k]) {
		bytes = malloc((size_t)GROUPS_PLACE << k);
		if (!bytes)
			return false;
		g->blocks[k] = (uintptr_t)bytes - ((uintptr_t)GROUPS_PLACE << k);
	}
	g->used = 1U << k;
	g->end = 2U << k;
	return true;
}

/* The place of a new row; 0: out of memory. */
static uint32_t take(struct groups *g, size_t size)
{
	const size_t places = (size + GROUPS_PLACE - 1) / GROUPS_PLACE;

	if (g->end - g->used < places && !next_block(g, places))
		return 0;
	g->used += (uint32_t)places;
	return g->used - (uint32_t)places;
}

void *groups_find_any(const struct groups *g, const void *key, size_t len)
{
	return groups_look(g, key, len);
}

void *groups_add(struct groups *g, const void *key, size_t len, size_t at, size_t size)
{
	const uint32_t hash = (uint32_t)hash_words(key, len);
	struct group *one = g->spare;
	uint32_t place;

	if ((!g->slots || 2 * (size_t)g->n > g->mask) && !grow(g))
		return NULL;
	place = one ? one->place : take(g, sizeof(*one) + size);
	if (!place)
		return NULL;
	if (one)
		g->spare = one->prev;
	one = groups_place(g, place);
	memset(one, 0, sizeof(*one) + size);
	*one = (struct group){ .place = place, .len = (uint32_t)len };
	memcpy((char *)(one + 1) + at, key, len);
	g->at = at;
	DL_APPEND(g->first, one);
	put(g, (struct groups_slot){ hash, place });
	g->n++;
	return one + 1;
}

/* Closes the gap: an entry moves there unless its home lies behind it. */
static void take_out(struct groups *g, uint32_t gap)
{
	for (uint32_t at = (gap + 1) & g->mask; g->slots[at].place; at = (at + 1) & g->mask) {
		if (((at - g->slots[at].hash) & g->mask) < ((at - gap) & g->mask))
			continue;
		g->slots[gap] = g->slots[at];
		gap = at;
	}
	g->slots[gap].place = 0;
}

void groups_drop(struct groups *g, void *row)
{
	struct group *one = (struct group *)row - 1;
	uint32_t at = (uint32_t)hash_words((const char *)row + g->at, one->len) & g->mask;

	while (g->slots[at].place != one->place)
		at = (at + 1) & g->mask;
	take_out(g, at);
	DL_DELETE(g->first, one);
	one->prev = g->spare;
	g->spare = one;
	g->n--;
}

void groups_clear(struct groups *g)
{
	if (g->slots)
		memset(g->slots, 0, ((size_t)g->mask + 1) * sizeof(*g->slots));
	g->first = g->spare = NULL;
	g->n = g->used = g->end = 0;
}

void groups_free(struct groups *g)
{
	for (unsigned int k = FIRST_BLOCK; g->blocks && k < GROUPS_BLOCKS; k++)
		if (g->blocks[k])
			free((void *)(g->blocks[k] + ((uintptr_t)GROUPS_PLACE << k)));
	free(g->blocks);
	free(g->slots);
	*g = (struct groups){ 0 };
}

#define COMPARE(a, b) compare((a) + 1, (b) + 1)

void groups_sort(struct groups *g, int (*compare)(const void *a, const void *b))
{
	DL_SORT(g->first, COMPARE);
}
