/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path: records out of rings, samples to the consumer.
 *
 * Rings take turns, a slice each, so that a slow consumer sees all CPUs; a slice's
 * space goes back to the kernel when it ends. A record lies in the ring itself while
 * the consumer looks at it. Nothing is allocated.
 */
#include "stream/private.h"
#include "stream/strays.h"

#include "perfevent/rings/ring_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- which event a sample is of ---------------------------------------- */

static void index_id(struct stream *s, uint64_t id, struct stream_event *event)
{
	size_t i = (id * 0x9e3779b97f4a7c15ull >> 32) & s->id_mask;

	while (s->by_id[i].event)
		i = (i + 1) & s->id_mask;
	s->by_id[i] = (struct id_slot){ id, event };
}

struct stream_event *drain_event_by_id(const struct stream *s, uint64_t id)
{
	size_t i = (id * 0x9e3779b97f4a7c15ull >> 32) & s->id_mask;

	for (; s->by_id[i].event; i = (i + 1) & s->id_mask)
		if (s->by_id[i].id == id)
			return s->by_id[i].event;
	return NULL;
}

/* A source's own; NULL: there is none. */
static struct stream_limit *own_limit(const struct stream_event *event)
{
	if (event->maker)
		return maker_limit(event->maker);
	return event->sampling && event->sampling->limit.exit_n ? &event->sampling->limit : NULL;
}

void dispatch_index(struct stream *s)
{
	const struct stream_event *first = &s->events[s->first];
	size_t slots = 16;

	makers_settle(s);
	groups_settle(s);
	memset(s->by_type, 0, sizeof(s->by_type));
	s->filters_here = false;
	for (size_t i = 0; i < s->nevents; i++)
		s->filters_here |= s->events[i].filter_here;
	for (size_t i = 0; i < s->nevents; i++)
		s->events[i].choosy = s->events[i].filter_here || own_limit(&s->events[i]) ||
				      s->opts->sampling_limit || s->events[i].taps || s->events[i].counts ||
				      s->events[i].muted;
	s->plain_raw = s->mixed || first->callchain ? 0 : first->layout.raw;
	for (size_t i = 0; i < s->nevents; i++)
		if (s->events[i].wanted && s->events[i].fmt && !s->events[i].maker)
			s->by_type[s->events[i].fmt->id] = &s->events[i];
	free(s->by_id);
	while (slots < 2 * s->nopened + 2)
		slots *= 2;
	s->by_id = calloc(slots, sizeof(*s->by_id));
	s->id_mask = slots - 1;
	for (size_t i = 0; s->by_id && i < s->nopened; i++) {
		uint64_t id;

		if (pev_event_id(s->opened[i].ev, &id))
			continue;
		index_id(s, id, s->opened[i].event);
		s->opened[i].event->id = id;
	}
	strays_begin(s);
}

/* The usual layout: all events alike, nothing of variable length before the raw data. */
static inline struct stream_event *identify_plain(const struct stream *s,
						  const struct perf_event_header *rec,
						  const void **raw, uint32_t *raw_size)
{
	uint32_t at = s->plain_raw;
	struct stream_event *event;

	if (rec->size < at + 8)
		return NULL;
	*raw_size = layout_u32(rec, (uint8_t)at);
	*raw = (const char *)rec + at + 4;
	if (*raw_size < 2 || *raw_size > rec->size - at - 4)
		return NULL;
	event = s->by_type[*(const uint16_t *)*raw];
	return event && *raw_size >= event->min_raw ? event : NULL;
}

bool stream_sample_fits(const struct stream_event *event, const struct perf_event_header *rec)
{
	const struct stream_sampling *sampling = event->sampling;
	struct pev_record out;

	if (rec->size < event->layout.fixed_end)
		return false;
	return !sampling || !sampling->decode || !pev_decode(rec, rec->size, &sampling->format, &out);
}

static struct stream_event *event_of(const struct stream *s, const struct perf_event_header *rec)
{
	uint64_t id;

	return strays_whose(s, rec, &id);
}

/* The raw data of a sample of this event; NULL where it contradicts the event's format. */
static struct stream_event *identify_as(struct stream_event *event, const struct perf_event_header *rec, const void **raw,
					uint32_t *raw_size)
{
	if (!event)
		return NULL;
	if (!event->fmt || !event->layout.raw) {
		*raw = NULL;
		*raw_size = 0;
		return stream_sample_fits(event, rec) ? event : NULL;
	}
	*raw = layout_raw(&event->layout, rec, raw_size);
	return *raw && *raw_size >= 2 && *raw_size >= event->fmt->min_size ? event : NULL;
}

/* The event and its raw data; NULL for a sample that contradicts its format. */
__attribute__((noinline)) static struct stream_event *
identify_any(const struct stream *s, const struct perf_event_header *rec, const void **raw,
	     uint32_t *raw_size)
{
	struct stream_event *event = &s->events[s->first];

	if (s->mixed)
		return identify_as(event_of(s, rec), rec, raw, raw_size);
	if (!event->fmt || !event->layout.raw)   /* the only one */
		return identify_as(event, rec, raw, raw_size);
	*raw = layout_raw(&event->layout, rec, raw_size);
	if (!*raw || *raw_size < 2)
		return NULL;
	event = s->by_type[*(const uint16_t *)*raw];
	return event && *raw_size >= event->fmt->min_size ? event : NULL;
}

static inline struct stream_event *identify(const struct stream *s,
					    const struct perf_event_header *rec, const void **raw,
					    uint32_t *raw_size)
{
	if (__builtin_expect(s->plain_raw != 0, 1))
		return identify_plain(s, rec, raw, raw_size);
	return identify_any(s, rec, raw, raw_size);
}

const struct stream_event *drain_event_of(const struct stream *s,
					  const struct perf_event_header *rec)
{
	return s->mixed ? event_of(s, rec) : &s->events[s->first];
}

#define SECOND UINT64_C(1000000000)

/* ---- delivery ---------------------------------------------------------- */

/* A source's own -N is reached: it is off. Once all that can bring events is, the run ends. */
static void end_source(struct stream *s, const struct stream_event *event)
{
	for (size_t i = 0; i < s->nopened; i++) {
		const struct stream_event *e = s->opened[i].event;

		if (e == event || (event->maker && e->taps && makers_are_over(e)))
			pev_event_disable(s->opened[i].ev);
	}
	for (size_t i = 0; i < s->nshown; i++) {
		const struct stream_event *e = &s->events[i];
		const struct stream_limit *limit = own_limit(e);

		if (e->wanted && (!limit || limit->passed < limit->exit_n))
			return;
	}
	stream_stop(s);
}

/* Whether a source may have one more; the last one ends it. */
static bool within_limit(struct stream *s, const struct stream_event *event)
{
	struct stream_limit *limit = own_limit(event);

	if (limit->passed == limit->exit_n) {
		s->totals.beyond++;
		return false;
	}
	if (++limit->passed == limit->exit_n)
		end_source(s, event);
	return true;
}

static bool is_own(const struct stream *s, const struct stream_event *event, const struct perf_event_header *rec)
{
	return own_has(&s->own, layout_u32(rec, event->layout.tid), layout_u64(rec, event->layout.time)) && !event->keep_own;
}

static bool is_filtered(const struct ring *ring, const struct stream_event *event,
			const struct perf_event_header *rec, const void *raw, uint32_t raw_size)
{
	return event->filter_here && !filter_passes(event, rec, raw, raw_size, (uint32_t)ring->cpu);
}

/* Whether a sample is our own doing, or not what the filter wants; it is counted. */
static bool is_unwanted(struct stream *s, const struct ring *ring,
			const struct stream_event *event, const struct perf_event_header *rec,
			const void *raw, uint32_t raw_size)
{
	if (is_own(s, event, rec)) {
		s->totals.skipped++;
		return true;
	}
	if (event->muted || is_filtered(ring, event, rec, raw, raw_size)) {
		s->totals.filtered++;
		return true;
	}
	return false;
}

/* --sampling-limit, by the samples' own time. */
static bool within_rate(struct stream *s, struct ring *ring, const struct stream_event *event,
			const struct perf_event_header *rec)
{
	uint64_t time = layout_u64(rec, event->layout.time);

	/* a record that comes inverted is of the second that has begun, not of another one */
	if (time - ring->second >= SECOND && ring->second - time >= SECOND) {
		ring->second = time;
		ring->this_second = 0;
	}
	if (ring->this_second++ < s->opts->sampling_limit)
		return true;
	s->totals.limited++;
	return false;
}

static bool within_limits(struct stream *s, struct ring *ring, const struct stream_event *event,
			  const struct perf_event_header *rec)
{
	return (!s->opts->sampling_limit || within_rate(s, ring, event, rec)) &&
	       (!own_limit(event) || within_limit(s, event));
}

bool drain_is_within_limits(struct stream *s, struct ring *ring, const struct stream_event *event,
			    const struct perf_event_header *rec)
{
	return within_limits(s, ring, event, rec);
}

/* Most samples are chosen by two looks. */
static inline bool is_plainly_chosen(const struct stream *s, const struct stream_event *event,
				     const struct perf_event_header *rec)
{
	return __builtin_expect(!own_may_have(&s->own, layout_u32(rec, event->layout.tid)) && !event->choosy, 1);
}

static bool is_chosen(struct stream *s, struct ring *ring, const struct stream_event *event,
		      const struct perf_event_header *rec, const void *raw, uint32_t raw_size)
{
	if (is_plainly_chosen(s, event, rec))
		return true;
	return !is_unwanted(s, ring, event, rec, raw, raw_size) &&
	       (event->taps || within_limits(s, ring, event, rec));
}

/* What is not plainly chosen: to the consumer, to the sources that watch it, or to nobody. */
__attribute__((noinline)) static void
deliver_choosy(struct stream *s, struct ring *ring, const struct stream_event *event,
	       const struct perf_event_header *rec, const void *raw, uint32_t raw_size)
{
	if (event->counts)
		counts_take(s, event, rec);
	if (!is_chosen(s, ring, event, rec, raw, raw_size))
		return;
	if (event->taps)
		makers_take(s, ring, event, rec, raw, raw_size, (uint32_t)ring->cpu);
	else
		stream_hand_over(s, event, rec, raw, raw_size, (uint32_t)ring->cpu);
}

void drain_count_unknown(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	if (strays_are_lost(s, rec))
		loss_add(s, ring, 1, STREAM_LOSS_DAMAGED, 0, 0);
	else
		s->totals.malformed++;
}

__attribute__((always_inline)) static inline void
deliver(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const void *raw;
	uint32_t raw_size;
	struct stream_event *event = identify(s, rec, &raw, &raw_size);

	if (__builtin_expect(!event, 0)) {
		drain_count_unknown(s, ring, rec);
		return;
	}
	if (is_plainly_chosen(s, event, rec))
		stream_hand_over(s, event, rec, raw, raw_size, (uint32_t)ring->cpu);
	else
		deliver_choosy(s, ring, event, rec, raw, raw_size);
}

void drain_deliver(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	deliver(s, ring, rec);
}

static void take_throttle(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const uint64_t *u = (const uint64_t *)(rec + 1);
	const struct pev_throttle record = { .time = u[0], .id = u[1], .stream_id = u[2] };
	const struct stream_event *event = drain_event_by_id(s, record.id);

	if (event)
		throttling_take(s, ring, event, rec->type, &record);
}

void drain_end_throttled(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const void *raw;
	uint32_t raw_size;
	const struct stream_event *event = identify(s, rec, &raw, &raw_size);

	if (event && rec->size >= event->layout.time + 8)
		throttling_end(s, ring, event, layout_u64(rec, event->layout.time));
}

uint64_t drain_take_lost(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const uint64_t *u = (const uint64_t *)(rec + 1);

	if ((rec->type == PERF_RECORD_THROTTLE || rec->type == PERF_RECORD_UNTHROTTLE) && rec->size >= 32)
		take_throttle(s, ring, rec);
	if (rec->type == PERF_RECORD_LOST && rec->size >= 24) {
		ring->lost += u[1];   /* u[0] is the id */
		return u[1];
	}
	return rec->type == PERF_RECORD_LOST_SAMPLES && rec->size >= 16 ? u[0] : 0;
}

static void other_record(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	uint64_t lost = drain_take_lost(s, ring, rec);

	if (lost)
		loss_add(s, ring, lost, STREAM_LOSS_RING, 0, 0);
}

void drain_check_damage(struct stream *s, struct ring *ring)
{
	uint64_t damaged = pev_ring_damaged(ring->ring);

	if (damaged != ring->damaged)
		loss_add(s, ring, damaged - ring->damaged, STREAM_LOSS_DAMAGED, 0, 0);
	ring->damaged = damaged;
}

enum { PREFETCH_BYTES = 512 };

/* One slice of one ring; returns whether more was waiting. */
static bool drain_slice(struct stream *s, struct ring *ring)
{
	struct pev_ring *const bytes = ring->ring;
	uint64_t behind = ring->backlog ? backlog_move(ring->backlog) : 0;
	uint64_t waiting = pev_ring_begin_(bytes) + behind, taken = 0, from;
	const struct perf_event_header *rec;

	s->slice++;
	from = bytes->pos;
	while (taken < SLICE_BYTES && (rec = pev_ring_next_(bytes))) {
		/* another CPU wrote these lines: they are on their way while a handler runs */
		__builtin_prefetch((const char *)rec + PREFETCH_BYTES);
		taken += rec->size;
		if (rec->type != PERF_RECORD_SAMPLE) {
			other_record(s, ring, rec);
		} else {
			if (__builtin_expect(s->throttles.nopen != 0, 0))
				drain_end_throttled(s, ring, rec);
			deliver(s, ring, rec);
		}
		if (attention_pending(&s->attn)) {
			attend_requests(s);
			if (s->stopping)
				break;
		}
	}
	if (__builtin_expect(s->writer != NULL, 0))
		recorder_take(s, ring, from);
	pev_ring_release_(bytes);
	drain_check_damage(s, ring);
	return waiting > taken;
}

bool drain_round(struct stream *s)
{
	bool more = false;

	if (s->opts->recording.only) {
		recorder_drain(s);
		return s->draining && grow_is_pending(s);
	}
	for (size_t i = 0; i < s->nrings && !s->stopping; i++)
		more |= drain_slice(s, &s->rings[i]);
	return more || (s->draining && grow_is_pending(s));
}

/* ---- what is left when the run ends ------------------------------------ */

bool drain_is_wanted(struct stream *s, struct ring *ring,
		     const struct perf_event_header *rec)
{
	const struct stream_event *event;
	const void *raw;
	uint32_t size;

	if (rec->type != PERF_RECORD_SAMPLE)
		return false;
	event = identify(s, rec, &raw, &size);
	return event && is_chosen(s, ring, event, rec, raw, size);
}

bool drain_is_dropped(struct stream *s, const struct ring *ring,
		      const struct perf_event_header *rec)
{
	const void *raw;
	uint32_t size;
	const struct stream_event *event = identify(s, rec, &raw, &size);

	return event && is_unwanted(s, ring, event, rec, raw, size);
}

bool drain_is_refused(const struct stream *s, const struct ring *ring, const struct perf_event_header *rec, uint64_t *id)
{
	const void *raw;
	uint32_t size;
	struct stream_event *event = NULL;

	*id = 0;
	if (s->strays) {
		event = strays_whose(s, rec, id);
		if (!event)
			return rec->size >= 16;   /* one that nobody can assign is counted as lost */
		event = identify_as(event, rec, &raw, &size);
	} else {
		event = identify(s, rec, &raw, &size);
	}
	return event && (event->unrecorded || is_own(s, event, rec) || is_filtered(ring, event, rec, raw, size));
}

void drain_discard(struct stream *s)
{
	for (size_t i = 0; i < s->nrings; i++) {
		struct ring *ring = &s->rings[i];
		const struct perf_event_header *rec;
		uint64_t n = 0, behind, before = s->totals.lost;

		do {
			behind = ring->backlog ? backlog_move(ring->backlog) : 0;
			pev_ring_begin_(ring->ring);
			while ((rec = pev_ring_next_(ring->ring))) {
				if (drain_is_wanted(s, ring, rec))
					n++;
				else
					other_record(s, ring, rec);
			}
			pev_ring_release_(ring->ring);
		} while (behind || grow_exchange(s, ring));
		if (n)
			loss_add(s, ring, n, STREAM_LOSS_STOP, 0, 0);
		loss_record(s, ring, s->totals.lost - before);
	}
}
