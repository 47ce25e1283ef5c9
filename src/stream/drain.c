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
	stream_tasks_before(s, event, rec);
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

enum { PREFETCH_BYTES = 2048, PREFETCH_ALIKE = 4096 };

/* Whether the samples ahead may be taken without a look at anything but themselves. */
static bool takes_plain(const struct stream *s)
{
	return s->run.ops->alike && s->choice.plain_raw && !s->opts->exit_n && !s->loss.throttles.nopen;
}

/* How many samples have header, event and raw size of `first`, which is plain. */
static size_t count_alike(const struct stream *s, const char *first, const char *end, const struct stream_event *event,
			  uint16_t size)
{
	const size_t raw_at = s->choice.plain_raw, type_at = raw_at + sizeof(uint32_t), tid_at = event->layout.tid,
		     time_at = event->layout.time;
	const uint64_t header = *(const uint64_t *)first;
	const uint32_t raw_size = *(const uint32_t *)(first + raw_at);
	const uint16_t type = *(const uint16_t *)(first + type_at);
	const char *at = first;
	size_t n;

	for (n = 0; n < STREAM_ALIKE && (size_t)(end - at) >= size; n++, at += size) {
		__builtin_prefetch(at + PREFETCH_ALIKE);
		if (*(const uint64_t *)at != header || *(const uint32_t *)(at + raw_at) != raw_size ||
		    *(const uint16_t *)(at + type_at) != type || *(const uint64_t *)(at + time_at) >= s->tasks_due ||
		    own_may_have(&s->choice.own, *(const uint32_t *)(at + tid_at)))
			break;
	}
	return n;
}

/* The samples from the reader's position on that are plain and alike. False: there is something else. */
static bool find_alike(const struct stream *s, const struct ring *ring, struct stream_alike *v)
{
	const struct pev_ring *bytes = ring->ring;
	const uint64_t whole = bytes->mask + 1, left = bytes->head - bytes->pos, at = bytes->pos & bytes->mask;
	const char *first = bytes->data + at, *end = first + (left < whole - at ? left : whole - at);
	const struct perf_event_header *rec = (const void *)first;
	const void *raw;
	uint16_t size;

	if (left < sizeof(*rec))
		return false;
	size = __atomic_load_n(&rec->size, __ATOMIC_RELAXED);
	if (rec->type != PERF_RECORD_SAMPLE || size & 7 || first + size > end)
		return false;
	v->event = dispatch_plain(s, rec, &raw, &v->raw_size);
	if (!v->event || !choice_is_plain(s, v->event, rec))
		return false;
	if (layout_u64(rec, v->event->layout.time) >= s->tasks_due)
		return false;
	v->first = first;
	v->size = size;
	v->raw_at = (size_t)((const char *)raw - first);
	v->cpu = (uint32_t)ring->cpu;
	v->n = count_alike(s, first, end, v->event, size);
	return true;
}

/* Passes or gathers plain samples up to the first record that is something else. Returns their bytes: up to `most`, or a little more. */
static uint64_t take_plain(struct stream *s, struct ring *ring, uint64_t most)
{
	struct stream_alike v;
	uint64_t taken = 0;

	while (taken < most && !s->run.stopping && !attention_pending(&s->run.attention) && find_alike(s, ring, &v)) {
		ring->ring->pos += v.n * v.size;
		taken += v.n * v.size;
		if (v.n >= STREAM_FEW_ALIKE)
			stream_pass_alike(s, &v);
		else
			stream_gather_alike(s, &v);
	}
	return taken;
}

/* Reads one slice of a ring. True if there is more. */
static bool drain_slice(struct stream *s, struct ring *ring)
{
	struct pev_ring *const bytes = ring->ring;
	const uint64_t from = bytes->pos;
	const struct perf_event_header *rec;
	uint64_t taken = 0;

	while (taken < SLICE_BYTES) {
		if (takes_plain(s))
			taken += take_plain(s, ring, SLICE_BYTES - taken);
		if (__builtin_expect(s->run.stopping, 0))
			break;
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
	return ring->waiting > taken;
}

bool drain_round(struct stream *s)
{
	bool more = false;

	if (s->opts->recording.only) {
		recorder_drain(s);
		return s->run.draining && grow_is_pending(s);
	}
	stream_begin_round(s);
	for (size_t i = 0; i < s->rings.n && !s->run.stopping; i++)
		more |= drain_slice(s, &s->rings.v[i]);
	s->rings.settled = more || s->run.stopping || grow_is_pending(s) ? 0 : s->rings.side_time;
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
