/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/rings/ring_private.h"
#include "stream/state/state.h"

void stream_begin_round(struct stream *s)
{
	s->rings.side_time = s->sideband ? sideband_time(s->sideband) : 0;
	for (size_t i = 0; i < s->rings.n; i++) {
		struct ring *ring = &s->rings.v[i];

		ring->behind = ring->backlog ? backlog_move(ring->backlog) : 0;
		ring->waiting = pev_ring_begin_(ring->ring) + ring->behind;
	}
	if (s->sideband)
		sideband_collect(s->sideband);
}

void stream_take_tasks(struct stream *s, uint64_t time)
{
	stream_flush(s);
	if (s->sideband)
		sideband_take(s->sideband, time);
}

void stream_peek_tasks(struct stream *s, void (*fn)(void *ctx, const struct pev_record *rec), void *ctx)
{
	if (s->sideband)
		sideband_peek(s->sideband, fn, ctx);
}

bool stream_task_was_peeked(const struct stream *s)
{
	return s->sideband && sideband_was_peeked(s->sideband);
}
