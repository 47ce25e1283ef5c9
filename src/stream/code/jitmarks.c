/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/code/jitmarks.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 10, MAX_SLOTS = 1 << 20, OWNER_SHIFT = 56 };

struct jitmarks {
	uint64_t *slots;         /* owner << OWNER_SHIFT | address; 0: free */
	size_t mask, n;
	bool cut;
};

/* ---- code --------------------------------------------------------------------- */

static uint64_t gap(const struct jitcode_range *a, const struct jitcode_range *b)
{
	return a->end < b->start ? b->start - a->end : b->end < a->start ? a->start - b->end : 0;
}

static void join(struct jitcode_range *a, const struct jitcode_range *b)
{
	a->start = a->start < b->start ? a->start : b->start;
	a->end = a->end > b->end ? a->end : b->end;
}

/* Joins the two ranges with the smallest gap between them. */
static void join_nearest(struct jitcode_range *v, unsigned int *n)
{
	unsigned int a = 0, b = 1;

	for (unsigned int i = 0; i < *n; i++)
		for (unsigned int k = i + 1; k < *n; k++)
			if (gap(&v[i], &v[k]) < gap(&v[a], &v[b])) {
				a = i;
				b = k;
			}
	join(&v[a], &v[b]);
	v[b] = v[--*n];
}

void jitcode_add(struct jitcode *c, uint64_t start, uint64_t end)
{
	struct jitcode_range v[JITCODE_RANGES + 1], all = { start, end };

	for (unsigned int i = 0; i < c->n; i++)
		if (c->v[i].start <= start && end <= c->v[i].end)
			return;
	if (end <= start)
		return;
	memcpy(v, c->v, sizeof(c->v));
	v[c->n++] = all;
	if (c->n > JITCODE_RANGES)
		join_nearest(v, &c->n);
	memcpy(c->v, v, sizeof(c->v));
	for (unsigned int i = 0; i < c->n; i++)
		join(&all, &c->v[i]);
	c->low = all.start;
	c->size = all.end - all.start;
}

static bool is_code(const struct jitcode *c, uint64_t addr)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (addr - c->v[i].start < c->v[i].end - c->v[i].start)
			return true;
	return false;
}

/* ---- addresses ---------------------------------------------------------------- */

struct jitmarks *jitmarks_new(void)
{
	return calloc(1, sizeof(struct jitmarks));
}

void jitmarks_free(struct jitmarks *m)
{
	if (m)
		free(m->slots);
	free(m);
}

static uint64_t *slot_of(uint64_t *slots, size_t mask, uint64_t key)
{
	size_t i = hash_number(key) & mask;

	while (slots[i] && slots[i] != key)
		i = (i + 1) & mask;
	return &slots[i];
}

/* Keeps at least half of the slots free. False: no room. */
static bool has_place(struct jitmarks *m)
{
	size_t n = m->slots ? 2 * (m->mask + 1) : FIRST_SLOTS;
	uint64_t *slots;

	if (m->slots && 2 * m->n < m->mask)
		return true;
	slots = n <= MAX_SLOTS ? calloc(n, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	for (size_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i])
			*slot_of(slots, n - 1, m->slots[i]) = m->slots[i];
	free(m->slots);
	m->slots = slots;
	m->mask = n - 1;
	return true;
}

static void add(struct jitmarks *m, uint64_t key)
{
	uint64_t *slot;

	if (!has_place(m)) {
		m->cut = true;
		return;
	}
	slot = slot_of(m->slots, m->mask, key);
	m->n += !*slot;
	*slot = key;
}

void jitmarks_add(struct jitmarks *m, unsigned int owner, const struct jitcode *code, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n && !m->cut; i++)
		if (__builtin_expect(words[i] - code->low < code->size, 0) && is_code(code, words[i]) &&
		    !(words[i] >> OWNER_SHIFT))
			add(m, (uint64_t)owner << OWNER_SHIFT | words[i]);
}

bool jitmarks_are_cut(const struct jitmarks *m)
{
	return m->cut;
}

bool jitmarks_next(const struct jitmarks *m, size_t *at, unsigned int *owner, uint64_t *addr)
{
	uint64_t key;

	while (m->slots && *at <= m->mask && !m->slots[*at])
		++*at;
	if (!m->slots || *at > m->mask)
		return false;
	key = m->slots[(*at)++];
	*owner = (unsigned int)(key >> OWNER_SHIFT);
	*addr = key & ((UINT64_C(1) << OWNER_SHIFT) - 1);
	return true;
}

void jitmarks_clear(struct jitmarks *m)
{
	free(m->slots);
	m->slots = NULL;
	m->mask = m->n = 0;
	m->cut = false;
}
