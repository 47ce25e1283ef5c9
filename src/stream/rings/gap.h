/* SPDX-License-Identifier: Apache-2.0 */
/* A loss in its place among the samples that are put in order: a record of its own, in the queue of its ring. */
#ifndef STREAM_RINGS_GAP_H
#define STREAM_RINGS_GAP_H

#include "stream/rings/rings.h"

struct gap {
	struct perf_event_header header;   /* type PERF_RECORD_LOST */
	uint64_t count, start, end;
};

/* Takes the ring's gap, once the time of the sample behind it is known. That sample can be inverted. */
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

/* It is due. */
static inline void gap_deliver(struct stream *s, struct ring *ring, const void *rec)
{
	const struct gap *gap = rec;

	loss_add(s, ring, gap->count, STREAM_LOSS_RING, gap->start, gap->end);
}
#endif
