/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --order: moves records from rings to queues, and merges those up to the watermark.
 *
 * Reading and delivering take turns, one slice each, so that neither starves. The barrier
 * guarantees that all samples up to the time `passed` are in the rings; some of them may still be
 * unread there:
 *
 *	ring:   | read |   `ahead` bytes, unread      |    written later       |
 *	               | some samples <= ahead_of   | all samples > ahead_of |
 *
 * So when `passed` is taken, the number of unread bytes is remembered with it (ring->ahead,
 * ring->ahead_of). Only when that many bytes are read is the queue known to be complete up to
 * ahead_of. The watermark is the minimum over all rings.
 *
 * If the queues are full, rings are not read (they overflow, and the kernel counts what is lost),
 * except those that hold the watermark back: their records can be delivered at once. There is then
 * no room to wait until `ahead` bytes are read: a queue is taken as complete up to the last sample
 * of the previous slice. A sample that is out of order by more than a slice may then be late, and
 * is counted as such.
 */
#include "base/now.h"
#include "perfevent/rings/ring_private.h"
#include "stream/choice/choice.h"
#include "stream/choice/dispatch.h"
#include "stream/private.h"
#include "stream/record/recorder.h"
#include "stream/rings/attend.h"
#include "stream/rings/gap.h"
#include "stream/rings/grow.h"
#include "stream/rings/ringrecords.h"
#include "stream/rings/rings.h"

#include <errno.h>
#include <poll.h>

#define SECOND UINT64_C(1000000000)

enum { MAX_HELD = 48 << 20 };

int ordered_start(struct stream *s, struct fault *f)
{
	int rc;

	s->rings.order = order_new((uint32_t)s->rings.n, MAX_HELD);
	rc = s->rings.order ? barrier_start(&s->rings.barrier, s->run.attention.kick) : -ENOMEM;
	return rc ? fault_set(f, EXIT_FAILED, "cannot set up --order: %s; leave it out to get "
			      "events in the order of each CPU", strerror(-rc)) : 0;
}

void ordered_stop(struct stream *s)
{
	barrier_stop(&s->rings.barrier);
	order_free(s->rings.order);
	s->rings.order = NULL;
}

/* False without memory. */
static bool push(struct stream *s, struct ring *ring, uint64_t time, const void *rec, uint32_t size)
{
	return !order_push(s->rings.order, (uint32_t)(ring - s->rings.v), time, rec, size);
}

static void push_gap(struct stream *s, struct ring *ring, uint64_t end)
{
	const struct gap gap = gap_take(ring, end);

	if (!push(s, ring, end, &gap, sizeof(gap)))
		gap_deliver(s, ring, &gap);
}

/* Whether a time is in the future. Slow, but rarely called: consecutive events have close times. */
static bool is_ahead_of_now(struct stream *s, uint64_t time)
{
	return time > now_ns(CLOCK_REALTIME) - (uint64_t)stream_realtime_offset(s) + SECOND;
}

/* A damaged time in the future would make the barrier confirm all times up to it. */
static void set_newest(struct stream *s, uint64_t time)
{
	if (time - s->rings.newest < SECOND || !is_ahead_of_now(s, time))
		s->rings.newest = time;
}

static void take_sample(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	/* the offset of the time is the same in all tracepoints of a stream */
	const struct stream_event *event = s->list.has_others
					   ? dispatch_event_of(s, rec) : &s->list.events[s->list.first];
	uint64_t time;

	if (!event || rec->size < event->layout.time + 8) {
		ring_count_unknown(s, ring, rec);
		return;
	}
	time = layout_u64(rec, event->layout.time);
	if (ring->gap)
		push_gap(s, ring, time);
	if (__builtin_expect(s->loss.throttles.nopen != 0, 0))
		throttling_end(s, ring, event, time);
	ring->read_time = time;
	if (time > s->rings.newest)
		set_newest(s, time);
	/* samples that a filter drops must not take up room in the queues */
	if (__builtin_expect(s->list.filters_here, 0) && choice_drops(s, ring, rec))
		return;
	if (__builtin_expect(!push(s, ring, time, rec, rec->size), 0))
		loss_add(s, ring, 1, STREAM_LOSS_STOP, 0, 0);
}

/* Updates up to which time the ring's queue is complete, after a slice. `before`: time of the last
 * sample of the previous slice. */
static void set_known(struct stream *s, struct ring *ring, uint64_t passed, uint64_t before,
		      bool emptied)
{
	uint32_t queue = (uint32_t)(ring - s->rings.v);

	/* the larger ring, not read yet, may have earlier samples */
	if (ring->growth)
		return;
	if (emptied)
		order_set_known(s->rings.order, queue, passed);
	else if (!ring->ahead)
		order_set_known(s->rings.order, queue, ring->ahead_of);
	else if (order_full(s->rings.order))
		order_set_known(s->rings.order, queue, before < passed ? before : passed);
}

static bool collect_slice(struct stream *s, struct ring *ring, uint64_t passed)
{
	const uint64_t before = ring->read_time, from = ring->ring->pos;
	const struct perf_event_header *rec = NULL;
	uint64_t taken = 0;

	if (!ring->ahead) {
		ring->ahead = ring->waiting;
		ring->ahead_of = passed;
	}
	while (taken < SLICE_BYTES && (rec = pev_ring_next_(ring->ring))) {
		taken += rec->size;
		if (rec->type == PERF_RECORD_SAMPLE)
			take_sample(s, ring, rec);
		else
			ring->gap += ring_take_lost(s, ring, rec);
	}
	if (s->record.writer)
		recorder_take(s, ring, from);
	pev_ring_release_(ring->ring);
	ring_check_damage(s, ring);
	ring->ahead = (rec || ring->behind) && ring->ahead > taken ? ring->ahead - taken : 0;
	set_known(s, ring, passed, before, !rec && !ring->behind);
	return ring->waiting > taken;
}

/* While draining, events are off, so the rings have a bounded number of records: all are read. */
static bool may_read(const struct stream *s, size_t ring, uint64_t passed, uint64_t watermark)
{
	uint64_t known = order_known(s->rings.order, (uint32_t)ring);

	return s->run.draining || !order_full(s->rings.order) || (known < passed && known <= watermark);
}

static bool collect(struct stream *s, uint64_t passed, bool *read)
{
	uint64_t watermark = order_watermark(s->rings.order);
	bool more = false;

	for (size_t i = 0; i < s->rings.n; i++)
		if (may_read(s, i, passed, watermark)) {
			more |= collect_slice(s, &s->rings.v[i], passed);
			*read = true;
		}
	return more || (!s->run.draining && order_full(s->rings.order));
}

static void deliver_item(struct stream *s, const struct order_item *item)
{
	const struct perf_event_header *rec = item->rec;
	struct ring *ring = &s->rings.v[item->queue];

	if (rec->type == PERF_RECORD_LOST)
		gap_deliver(s, ring, rec);
	else
		drain_deliver(s, ring, rec);
}

static bool merge_slice(struct stream *s, uint64_t watermark)
{
	size_t left = s->rings.n * SLICE_BYTES;
	struct order_item item;

	while (left && !s->run.stopping) {
		uint16_t size;

		if (order_is_borrowed(s->rings.order))
			stream_flush(s);
		if (!order_pop(s->rings.order, watermark, &item))
			return false;
		size = ((const struct perf_event_header *)item.rec)->size;
		left = left > size ? left - size : 0;
		deliver_item(s, &item);
		if (attention_pending(&s->run.attention))
			attend_requests(s);
	}
	return !order_empty(s->rings.order);
}

/* Delivers up to the watermark, at most as much as a slice per ring. True if there is more. */
static bool merge(struct stream *s, uint64_t watermark)
{
	bool more = merge_slice(s, watermark);

	stream_flush(s);
	return more;
}

/* Queues are full, and none of their records may be delivered: waits for the barrier. */
static void wait_for_word(const struct stream *s)
{
	struct pollfd kick = { .fd = s->run.attention.kick, .events = POLLIN };

	poll(&kick, 1, 1);
}

bool ordered_round(struct stream *s)
{
	/* read `passed` before the rings: see live/barrier.h */
	uint64_t passed = barrier_passed(&s->rings.barrier);
	bool read = false, more, left;

	stream_begin_round(s);
	if (s->rings.side_time > s->rings.newest)   /* the barrier is asked about tasks that hit no event, too */
		set_newest(s, s->rings.side_time);
	more = collect(s, passed, &read);
	barrier_ask(&s->rings.barrier, s->rings.newest);
	if (!s->run.draining) {
		left = merge(s, order_watermark(s->rings.order));
		if (!read && !left && order_full(s->rings.order))
			wait_for_word(s);
		s->rings.settled = left || s->run.stopping ? 0 : order_watermark(s->rings.order);
		return left | more;
	}
	/* all events are off: read everything, then merge */
	return more || grow_is_pending(s) || merge(s, UINT64_MAX);
}

/* Reports gaps that no sample followed; then counts everything left in the queues as lost, by ring. */
void ordered_discard(struct stream *s)
{
	struct order_item item;

	for (size_t i = 0; i < s->rings.n; i++) {
		struct ring *ring = &s->rings.v[i];

		if (ring->gap)
			loss_add(s, ring, ring->gap, STREAM_LOSS_RING, ring->read_time, 0);
		ring->gap = 0;
	}
	while (order_pop(s->rings.order, UINT64_MAX, &item)) {
		const struct perf_event_header *rec = item.rec;

		if (rec->type == PERF_RECORD_LOST)
			deliver_item(s, &item);
		else
			s->rings.v[item.queue].gap += choice_wants(s, &s->rings.v[item.queue], rec);
	}
	for (size_t i = 0; i < s->rings.n; i++) {
		if (s->rings.v[i].gap)
			loss_add(s, &s->rings.v[i], s->rings.v[i].gap, STREAM_LOSS_STOP, 0, 0);
		s->rings.v[i].gap = 0;
	}
}
