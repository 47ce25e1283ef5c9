/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/handoffs.h"

#include <stdlib.h>

enum { KEPT = 64 };

bool handoffs_add(struct handoffs *h, const struct handoff *one)
{
	if (!h->last && !(h->last = calloc(KEPT, sizeof(*h->last))))
		return false;
	h->last[h->next] = *one;
	h->next = (h->next + 1) % KEPT;
	h->n += h->n < KEPT;
	return true;
}

/* 0: the latest one. */
static const struct handoff *before(const struct handoffs *h, size_t i)
{
	return &h->last[(h->next + 2 * KEPT - 1 - i) % KEPT];
}

void handoffs_divide(const struct handoffs *h, uint64_t start, uint64_t end, handoffs_part_fn *fn, void *ctx)
{
	uint64_t since;

	for (size_t i = 0; i < h->n && before(h, i)->time > start; i++) {
		since = i + 1 < h->n && before(h, i + 1)->time > start ? before(h, i + 1)->time : start;
		if (before(h, i)->time <= end)
			fn(ctx, before(h, i), before(h, i)->time - since);
	}
}

uint64_t handoffs_latest(const struct handoffs *h)
{
	return h->n ? before(h, 0)->time : 0;
}

void handoffs_rest(struct handoffs *h)
{
	for (size_t i = 0; i < h->n; i++)
		h->last[i].is_old = true;
}

void handoffs_free(struct handoffs *h)
{
	free(h->last);
	*h = (struct handoffs){ 0 };
}
