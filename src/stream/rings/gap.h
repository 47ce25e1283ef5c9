/* SPDX-License-Identifier: Apache-2.0 */
/* Lost samples among samples in order of time: a gap is queued as a record in the queue of its ring. */
#ifndef STREAM_RINGS_GAP_H
#define STREAM_RINGS_GAP_H

#include "stream/rings/rings.h"

struct gap {
	struct perf_event_header header;
	uint64_t count, start, end;
};

/* Takes the ring's gap when the time of the next sample, `end`, is known. That may be earlier than
 * the previous one's. */
static inline struct gap gap_take(struct ring *ring, uint64_t end)
{
	const struct gap gap = {
		.header = { .type = PERF_RECORD_LOST, .size = sizeof(gap) },
		.count = ring->gap, .end = end,
		.start = ring->read_time < end ? ring->read_time : end,
	};

	ring->gap = 0;
	return gap;
}

/* Reports the gap when its turn comes. */
static inline void gap_deliver(struct stream *s, struct ring *ring, const void *rec)
{
	const struct gap *gap = rec;

	loss_add(s, ring, gap->count, STREAM_LOSS_RING, gap->start, gap->end);
}
#endif
