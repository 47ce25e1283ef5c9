/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/choice/dispatch.h"

#include "stream/choice/sampleids.h"
#include "stream/choice/strays.h"
#include "stream/list/groups.h"
#include "stream/list/maker.h"
#include "stream/list/samplelimits.h"
#include "stream/state/state.h"

#include <string.h>

void dispatch_index(struct stream *s)
{
	const struct stream_event *first = &s->list.events[s->list.first];

	makers_settle(s);
	groups_settle(s);
	memset(s->choice.by_type, 0, sizeof(s->choice.by_type));
	s->list.filters_here = false;
	for (size_t i = 0; i < s->list.nevents; i++)
		s->list.filters_here |= s->list.events[i].filter_here;
	for (size_t i = 0; i < s->list.nevents; i++)
		s->list.events[i].choosy = s->list.events[i].filter_here || limits_own(&s->list.events[i]) ||
				      s->opts->sampling_limit || s->list.events[i].taps || s->list.events[i].counts ||
				      s->list.events[i].opened.muted;
	s->choice.plain_raw = s->choice.mixed || first->callchain ? 0 : first->layout.raw;
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].wanted && s->list.events[i].fmt && !s->list.events[i].maker)
			s->choice.by_type[s->list.events[i].fmt->id] = &s->list.events[i];
	sampleids_index(s);
	strays_begin(s);
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

struct stream_event *dispatch_as(struct stream_event *event, const struct perf_event_header *rec, const void **raw,
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

struct stream_event *dispatch_any(const struct stream *s, const struct perf_event_header *rec, const void **raw,
				  uint32_t *raw_size)
{
	struct stream_event *event = &s->list.events[s->list.first];

	if (s->choice.mixed)
		return dispatch_as(event_of(s, rec), rec, raw, raw_size);
	if (!event->fmt || !event->layout.raw)   /* not mixed: there is only this event */
		return dispatch_as(event, rec, raw, raw_size);
	*raw = layout_raw(&event->layout, rec, raw_size);
	if (!*raw || *raw_size < 2)
		return NULL;
	event = s->choice.by_type[*(const uint16_t *)*raw];
	return event && *raw_size >= event->fmt->min_size ? event : NULL;
}

const struct stream_event *dispatch_event_of(const struct stream *s, const struct perf_event_header *rec)
{
	return s->choice.mixed ? event_of(s, rec) : &s->list.events[s->list.first];
}
