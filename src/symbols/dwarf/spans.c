/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweeps from the lowest address to the highest. Ranges that have begun are in a heap with the
 * deepest one on top; ranges that have ended are removed when they reach the top.
 */
#include "symbols/dwarf/spans.h"

#include "base/room.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int spans_add(struct spans *s, uint64_t start, uint64_t end, uint32_t value, uint32_t depth)
{
	if (start >= end)
		return 0;
	if (!ROOM_FOR(s->all, s->cap, s->n, 1))
		return -ENOMEM;
	s->all[s->n++] = (struct span){ start, end, value, depth };
	return 0;
}

void spans_free(struct spans *s)
{
	free(s->all);
	*s = (struct spans){ 0 };
}

static int by_start(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

/* ---- the heap --------------------------------------------------------------- */

struct heap {
	const struct span *all;
	uint32_t *at;            /* indexes into all */
	size_t n;
};

static bool goes_before(const struct heap *h, uint32_t a, uint32_t b)
{
	const struct span *x = &h->all[a], *y = &h->all[b];

	return x->depth != y->depth ? x->depth > y->depth : x->value < y->value;
}

static void put(struct heap *h, uint32_t item)
{
	size_t i = h->n++;

	for (; i && goes_before(h, item, h->at[(i - 1) / 2]); i = (i - 1) / 2)
		h->at[i] = h->at[(i - 1) / 2];
	h->at[i] = item;
}

static void drop_top(struct heap *h)
{
	uint32_t item = h->at[--h->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && goes_before(h, h->at[child + 1], h->at[child]))
			child++;
		if (!goes_before(h, h->at[child], item))
			break;
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = item;
}

/* ---- the sweep -------------------------------------------------------------- */

struct sweep {
	struct heap heap;
	struct flat_span *out;
	size_t n;
};

static void emit(struct sweep *w, uint64_t start, uint32_t value)
{
	if (w->n && w->out[w->n - 1].start == start)
		w->n--;
	if (w->n ? w->out[w->n - 1].value != value : value)
		w->out[w->n++] = (struct flat_span){ start, value };
}

/* Advances to `until`: when the top range ends, continues with the next one that has not ended. */
static void advance(struct sweep *w, uint64_t until)
{
	struct heap *h = &w->heap;
	uint64_t at;

	while (h->n && h->all[h->at[0]].end <= until) {
		at = h->all[h->at[0]].end;
		while (h->n && h->all[h->at[0]].end <= at)
			drop_top(h);
		emit(w, at, h->n ? h->all[h->at[0]].value : 0);
	}
}

struct flat_span *spans_flatten(struct spans *s, size_t *n)
{
	struct sweep w = { .heap = { .all = s->all } };

	w.out = malloc((2 * s->n + 1) * sizeof(*w.out));
	w.heap.at = malloc((s->n + 1) * sizeof(*w.heap.at));
	if (!w.out || !w.heap.at) {
		free(w.out);
		free(w.heap.at);
		return NULL;
	}
	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), by_start);
	for (size_t i = 0; i < s->n; i++) {
		advance(&w, s->all[i].start);
		put(&w.heap, (uint32_t)i);
		emit(&w, s->all[i].start, s->all[w.heap.at[0]].value);
	}
	advance(&w, UINT64_MAX);
	free(w.heap.at);
	*n = w.n;
	return w.out;
}
