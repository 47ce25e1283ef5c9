/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/handoffs.h"

#include <stdlib.h>

enum { FEW = 4, KEPT = 64 };

/* Most objects have few: locks on a stack, pipes. The oldest one is at 0 until there are KEPT. */
static bool has_room(struct handoffs *h)
{
	const size_t room = h->room ? 2 * h->room : FEW;
	struct handoff *more;

	if (h->n < h->room || h->room == KEPT)
		return true;
	more = realloc(h->last, room * sizeof(*more));
	if (!more)
		return false;
	h->last = more;
	h->next = h->n;
	h->room = room;
	return true;
}

bool handoffs_add(struct handoffs *h, const struct handoff *one)
{
	if (!has_room(h))
		return false;
	h->last[h->next] = *one;
	h->next = (h->next + 1) % h->room;
	h->n += h->n < h->room;
	return true;
}

/* 0: the latest one. */
static const struct handoff *before(const struct handoffs *h, size_t i)
{
	return &h->last[(h->next + 2 * h->room - 1 - i) % h->room];
}

void handoffs_divide(const struct handoffs *h, uint64_t start, uint64_t end, handoffs_part_fn *fn, void *ctx)
{
	uint64_t until = end;        /* what follows has been divided, or is nobody's */

	for (size_t i = 0; i < h->n && until > start; i++) {
		const struct handoff *one = before(h, i);
		const uint64_t last = i + 1 < h->n ? before(h, i + 1)->time : 0, since = last > start ? last : start;

		until = one->time < until ? one->time : until;
		if (until > since)   /* else events came late, out of order */
			fn(ctx, one, until - since);
		until = since < until ? since : until;
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
