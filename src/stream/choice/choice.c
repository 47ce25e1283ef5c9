/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/choice/choice.h"

#include "stream/asked/filter.h"
#include "stream/choice/counts.h"
#include "stream/choice/dispatch.h"
#include "stream/choice/strays.h"
#include "stream/list/maker.h"
#include "stream/list/samplelimits.h"
#include "stream/state/state.h"

/* Work of an interrupt that comes while perf-prof is on the CPU, such as waking another task, is not perf-prof's own. */
static bool is_own(const struct stream *s, const struct stream_event *event, const struct perf_event_header *rec, const void *raw)
{
	return own_has(&s->choice.own, layout_u32(rec, event->layout.tid), layout_u64(rec, event->layout.time)) &&
	       !event->keep_own && !(raw && event->min_raw > TRACE_FLAGS_AT && ((const uint8_t *)raw)[TRACE_FLAGS_AT] & event->interrupts);
}

static bool is_filtered(const struct stream_event *event, const struct perf_event_header *rec, const void *raw,
			uint32_t raw_size, uint32_t cpu)
{
	return event->filter_here && !filter_passes(event, rec, raw, raw_size, cpu);
}

/* The filter asks for names of tasks, which would be those of later events as long as the order of time is not known. */
static bool is_named(const struct stream_event *event)
{
	return event->opened.filtered && event->opened.filtered->named;
}

/* Whether the sample is perf-prof's own, fails the filter, or its event is muted; counts such samples. */
static bool is_unwanted(struct stream *s, const struct stream_event *event, const struct perf_event_header *rec,
			const void *raw, uint32_t raw_size, uint32_t cpu)
{
	if (is_own(s, event, rec, raw)) {
		s->loss.totals.skipped++;
		return true;
	}
	if (event->opened.muted || is_filtered(event, rec, raw, raw_size, cpu)) {
		s->loss.totals.filtered++;
		return true;
	}
	return false;
}

/* Whether the sample is delivered; counts those that are dropped. */
static bool takes(struct stream *s, struct ring *ring, const struct stream_event *event,
		  const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	if (choice_is_plain(s, event, rec))
		return true;
	return !is_unwanted(s, event, rec, raw, raw_size, cpu) &&
	       (event->taps || limits_allow(s, ring, event, rec));
}

void choice_offer(struct stream *s, struct ring *ring, const struct stream_event *event, const struct perf_event_header *rec,
		  const void *raw, uint32_t raw_size, uint32_t cpu)
{
	if (event->counts)
		counts_take(s, event, rec);
	if (!takes(s, ring, event, rec, raw, raw_size, cpu))
		return;
	if (event->taps)
		makers_take(s, ring, event, rec, raw, raw_size, cpu);
	else
		stream_hand_over(s, event, rec, raw, raw_size, cpu);
}

bool choice_wants(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	const struct stream_event *event;
	const void *raw;
	uint32_t size;

	if (rec->type != PERF_RECORD_SAMPLE)
		return false;
	event = dispatch_sample(s, rec, &raw, &size);
	return event && takes(s, ring, event, rec, raw, size, (uint32_t)ring->cpu);
}

bool choice_drops(struct stream *s, const struct ring *ring, const struct perf_event_header *rec)
{
	const void *raw;
	uint32_t size;
	const struct stream_event *event = dispatch_sample(s, rec, &raw, &size);

	return event && !is_named(event) && is_unwanted(s, event, rec, raw, size, (uint32_t)ring->cpu);
}

bool choice_refuses(const struct stream *s, const struct ring *ring, const struct perf_event_header *rec, uint64_t *id)
{
	const void *raw;
	uint32_t size;
	struct stream_event *event = NULL;

	*id = 0;
	if (s->choice.strays) {
		event = strays_whose(s, rec, id);
		if (!event)
			return rec->size >= 16;   /* not assignable to an event: lost */
		event = dispatch_as(event, rec, &raw, &size);
	} else {
		event = dispatch_sample(s, rec, &raw, &size);
	}
	return event &&
	       (event->asked.unrecorded || is_own(s, event, rec, raw) ||
			(!(s->rings.order && is_named(event)) && is_filtered(event, rec, raw, size, (uint32_t)ring->cpu)));
}
