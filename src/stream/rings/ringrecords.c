/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/rings/ringrecords.h"

#include "perfevent/rings/ring_private.h"
#include "stream/choice/dispatch.h"
#include "stream/choice/sampleids.h"
#include "stream/choice/strays.h"
#include "stream/rings/rings.h"

void ring_count_unknown(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	if (strays_are_lost(s, rec))
		loss_add(s, ring, 1, STREAM_LOSS_DAMAGED, 0, 0);
	else
		s->loss.totals.malformed++;
}

static void take_throttle(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const uint64_t *u = (const uint64_t *)(rec + 1);
	const struct pev_throttle record = { .time = u[0], .id = u[1], .stream_id = u[2] };
	const struct stream_event *event = sampleids_event(s, record.id);

	if (event)
		throttling_take(s, ring, event, rec->type, &record);
}

void ring_end_throttled(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const void *raw;
	uint32_t raw_size;
	const struct stream_event *event = dispatch_sample(s, rec, &raw, &raw_size);

	if (event && rec->size >= event->layout.time + 8)
		throttling_end(s, ring, event, layout_u64(rec, event->layout.time));
}

uint64_t ring_take_lost(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const uint64_t *u = (const uint64_t *)(rec + 1);

	if ((rec->type == PERF_RECORD_THROTTLE || rec->type == PERF_RECORD_UNTHROTTLE) && rec->size >= 32)
		take_throttle(s, ring, rec);
	if (rec->type == PERF_RECORD_LOST && rec->size >= 24) {
		ring->lost += u[1];   /* u[0] is the event's id */
		return u[1];
	}
	return rec->type == PERF_RECORD_LOST_SAMPLES && rec->size >= 16 ? u[0] : 0;
}

void ring_check_damage(struct stream *s, struct ring *ring)
{
	uint64_t damaged = pev_ring_damaged(ring->ring);

	if (damaged != ring->damaged)
		loss_add(s, ring, damaged - ring->damaged, STREAM_LOSS_DAMAGED, 0, 0);
	ring->damaged = damaged;
}
