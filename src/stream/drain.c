/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path: reads records from rings, and passes samples to the consumer.
 *
 * Rings take turns, one slice each, so that a slow consumer still sees all CPUs. The space of a
 * slice returns to the kernel at its end. A record stays in the ring while the consumer reads it.
 * Nothing is allocated.
 */
#include "perfevent/rings/ring_private.h"
#include "stream/choice/choice.h"
#include "stream/choice/dispatch.h"
#include "stream/private.h"
#include "stream/record/recorder.h"
#include "stream/rings/attend.h"
#include "stream/rings/grow.h"
#include "stream/rings/ringrecords.h"
#include "stream/rings/rings.h"

/* ---- delivery ---------------------------------------------------------- */

__attribute__((always_inline)) static inline void
deliver(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const void *raw;
	uint32_t raw_size;
	struct stream_event *event = dispatch_sample(s, rec, &raw, &raw_size);

	if (__builtin_expect(!event, 0)) {
		ring_count_unknown(s, ring, rec);
		return;
	}
	if (choice_is_plain(s, event, rec))
		stream_gather(s, event, rec, raw, raw_size, (uint32_t)ring->cpu);
	else
		choice_offer(s, ring, event, rec, raw, raw_size, (uint32_t)ring->cpu);
}

void drain_deliver(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	deliver(s, ring, rec);
}

static void other_record(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	uint64_t lost = ring_take_lost(s, ring, rec);

	if (lost)
		loss_add(s, ring, lost, STREAM_LOSS_RING, 0, 0);
}

enum { PREFETCH_BYTES = 2048, PREFETCH_ALIKE = 8192 };

/* Whether the samples ahead may be gathered without a look at anything but themselves. */
static bool gathers(const struct stream *s)
{
	return s->run.ops->samples && s->choice.plain_raw && !s->opts->exit_n && !s->loss.throttles.nopen;
}

/* Gathers samples while they have header, event and raw size of `first`, which is plain. How many. */
static size_t gather_alike(struct stream *s, const char *first, const char *end, const struct stream_event *event,
			   uint16_t size, const void **raw, const struct perf_event_header **rec, size_t most)
{
	const size_t raw_at = s->choice.plain_raw, type_at = raw_at + sizeof(uint32_t), tid_at = event->layout.tid;
	const uint64_t header = *(const uint64_t *)first;
	const uint32_t raw_size = *(const uint32_t *)(first + raw_at);
	const uint16_t type = *(const uint16_t *)(first + type_at);
	const char *at = first;
	size_t n;

	for (n = 0; n < most && (size_t)(end - at) >= size; n++, at += size) {
		__builtin_prefetch(at + PREFETCH_ALIKE);
		if (*(const uint64_t *)at != header || *(const uint32_t *)(at + raw_at) != raw_size ||
		    *(const uint16_t *)(at + type_at) != type ||
		    own_may_have(&s->choice.own, *(const uint32_t *)(at + tid_at)))
			break;
		rec[n] = (const void *)at;
		raw[n] = at + type_at;
	}
	return n;
}

/* Gathers plain samples up to the first record that is something else. Their bytes. */
static uint64_t gather_plain(struct stream *s, struct ring *ring)
{
	struct pev_ring *const bytes = ring->ring;
	struct stream_samples *const v = &s->gathered.v;
	const uint64_t from = bytes->pos, whole = bytes->mask + 1;
	const uint32_t cpu = (uint32_t)ring->cpu;
	uint64_t pos = from;
	size_t n = s->gathered.n;

	while (n < STREAM_SAMPLES) {
		uint64_t left = bytes->head - pos, at = pos & bytes->mask;
		const char *first = bytes->data + at, *end = first + (left < whole - at ? left : whole - at);
		const struct perf_event_header *rec = (const void *)first;
		struct stream_event *event;
		const void *raw;
		uint32_t raw_size;
		uint16_t size;
		size_t alike;

		if (left < sizeof(*rec))
			break;
		size = __atomic_load_n(&rec->size, __ATOMIC_RELAXED);
		if (rec->type != PERF_RECORD_SAMPLE || size & 7 || first + size > end)
			break;
		event = dispatch_plain(s, rec, &raw, &raw_size);
		if (!event || !choice_is_plain(s, event, rec))
			break;
		alike = gather_alike(s, first, end, event, size, v->raw + n, v->rec + n, STREAM_SAMPLES - n);
		if (!alike)
			break;
		for (size_t i = 0; i < alike; i++)
			v->event[n + i] = event;
		for (size_t i = 0; i < alike; i++)
			v->cpu[n + i] = cpu;
		n += alike;
		pos += alike * size;
	}
	s->loss.totals.delivered += n - s->gathered.n;
	s->gathered.n = n;
	bytes->pos = pos;
	return pos - from;
}

/* Reads one slice of a ring. True if there is more. */
static bool drain_slice(struct stream *s, struct ring *ring)
{
	struct pev_ring *const bytes = ring->ring;
	uint64_t behind = ring->backlog ? backlog_move(ring->backlog) : 0;
	uint64_t waiting = pev_ring_begin_(bytes) + behind, taken = 0, from;
	const struct perf_event_header *rec;

	s->rings.slice++;
	from = bytes->pos;
	while (taken < SLICE_BYTES) {
		if (gathers(s)) {
			taken += gather_plain(s, ring);
			if (s->gathered.n == STREAM_SAMPLES)
				stream_flush_gathered(s);
		}
		rec = pev_ring_next_(bytes);
		if (!rec)
			break;
		/* another CPU wrote these cache lines: fetch them while the consumer works */
		__builtin_prefetch((const char *)rec + PREFETCH_BYTES);
		taken += rec->size;
		if (rec->type != PERF_RECORD_SAMPLE) {
			other_record(s, ring, rec);
		} else {
			if (__builtin_expect(s->loss.throttles.nopen != 0, 0))
				ring_end_throttled(s, ring, rec);
			deliver(s, ring, rec);
		}
		if (attention_pending(&s->run.attention)) {
			attend_requests(s);
			if (s->run.stopping)
				break;
		}
	}
	if (__builtin_expect(s->record.writer != NULL, 0))
		recorder_take(s, ring, from);
	stream_flush(s);
	pev_ring_release_(bytes);
	ring_check_damage(s, ring);
	return waiting > taken;
}

bool drain_round(struct stream *s)
{
	bool more = false;

	if (s->opts->recording.only) {
		recorder_drain(s);
		return s->run.draining && grow_is_pending(s);
	}
	for (size_t i = 0; i < s->rings.n && !s->run.stopping; i++)
		more |= drain_slice(s, &s->rings.v[i]);
	return more || (s->run.draining && grow_is_pending(s));
}

/* ---- what is left when the run ends ------------------------------------ */

void drain_discard(struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct ring *ring = &s->rings.v[i];
		const struct perf_event_header *rec;
		uint64_t n = 0, behind, before = s->loss.totals.lost;

		do {
			behind = ring->backlog ? backlog_move(ring->backlog) : 0;
			pev_ring_begin_(ring->ring);
			while ((rec = pev_ring_next_(ring->ring))) {
				if (choice_wants(s, ring, rec))
					n++;
				else
					other_record(s, ring, rec);
			}
			pev_ring_release_(ring->ring);
		} while (behind || grow_exchange(s, ring));
		if (n)
			loss_add(s, ring, n, STREAM_LOSS_STOP, 0, 0);
		loss_record(s, ring, s->loss.totals.lost - before);
	}
}
