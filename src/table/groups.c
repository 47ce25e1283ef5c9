/* SPDX-License-Identifier: Apache-2.0 */
#include "table/groups.h"

#include <utlist.h>

enum { FIRST_SLOTS = 16, FIRST_BLOCK = 512, LARGEST_BLOCK = 1 << 18, ALIGN = 8 };

struct groups_block {
	struct groups_block *next;
	size_t used, room;
	char bytes[] __attribute__((aligned(ALIGN)));
};

static void place(struct groups *g, struct group *one)
{
	uint32_t at = one->hash & g->mask;

	while (g->slots[at])
		at = (at + 1) & g->mask;
	g->slots[at] = one;
}

static bool grow(struct groups *g)
{
	const size_t n = g->slots ? 2 * ((size_t)g->mask + 1) : FIRST_SLOTS;
	struct group **slots = calloc(n, sizeof(*slots)), *one;

	if (!slots)
		return false;
	free(g->slots);
	g->slots = slots;
	g->mask = (uint32_t)(n - 1);
	DL_FOREACH(g->first, one)
		place(g, one);
	return true;
}

/* A block behind the present one: one of before groups_clear(), or a new one. */
static struct groups_block *next_block(struct groups *g, size_t size)
{
	struct groups_block *b = g->block, **at = b ? &b->next : &g->blocks;
	size_t room = !b ? FIRST_BLOCK : b->room < LARGEST_BLOCK ? 2 * b->room : LARGEST_BLOCK;

	if (*at && (*at)->room >= size)
		return *at;
	room = room < size ? size : room;
	b = malloc(sizeof(*b) + room);
	if (!b)
		return NULL;
	*b = (struct groups_block){ *at, 0, room };
	return *at = b;
}

static struct group *take(struct groups *g, size_t size)
{
	struct groups_block *b = g->block;
	struct group *one = g->spare;

	if (one) {
		g->spare = one->prev;
		return one;
	}
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!b || b->room - b->used < size) {
		b = next_block(g, size);
		if (!b)
			return NULL;
		g->block = b;
	}
	b->used += size;
	return (struct group *)(b->bytes + b->used - size);
}

void *groups_add(struct groups *g, const void *key, size_t len, size_t at, size_t size)
{
	struct group *one;

	if ((!g->slots || 2 * (size_t)g->n > g->mask) && !grow(g))
		return NULL;
	one = take(g, sizeof(*one) + size);
	if (!one)
		return NULL;
	memset(one, 0, sizeof(*one) + size);
	*one = (struct group){ .hash = (uint32_t)hash_words(key, len), .len = (uint32_t)len };
	memcpy((char *)(one + 1) + at, key, len);
	g->at = at;
	DL_APPEND(g->first, one);
	place(g, one);
	g->n++;
	return one + 1;
}

/* Closes the gap: an entry moves there unless its home lies behind it. */
static void take_out(struct groups *g, uint32_t gap)
{
	for (uint32_t at = (gap + 1) & g->mask; g->slots[at]; at = (at + 1) & g->mask) {
		if (((at - g->slots[at]->hash) & g->mask) < ((at - gap) & g->mask))
			continue;
		g->slots[gap] = g->slots[at];
		gap = at;
	}
	g->slots[gap] = NULL;
}

void groups_drop(struct groups *g, void *row)
{
	struct group *one = (struct group *)row - 1;
	uint32_t at = one->hash & g->mask;

	while (g->slots[at] != one)
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
	for (struct groups_block *b = g->blocks; b; b = b->next)
		b->used = 0;
	g->block = g->blocks;
	g->first = g->spare = NULL;
	g->n = 0;
}

void groups_free(struct groups *g)
{
	for (struct groups_block *b = g->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(g->slots);
	*g = (struct groups){ 0 };
}

#define COMPARE(a, b) compare((a) + 1, (b) + 1)

void groups_sort(struct groups *g, int (*compare)(const void *a, const void *b))
{
	DL_SORT(g->first, COMPARE);
}
