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
	const struct stream_event *first = &s->events[s->first];

	makers_settle(s);
	groups_settle(s);
	memset(s->by_type, 0, sizeof(s->by_type));
	s->filters_here = false;
	for (size_t i = 0; i < s->nevents; i++)
		s->filters_here |= s->events[i].filter_here;
	for (size_t i = 0; i < s->nevents; i++)
		s->events[i].choosy = s->events[i].filter_here || limits_own(&s->events[i]) ||
				      s->opts->sampling_limit || s->events[i].taps || s->events[i].counts ||
				      s->events[i].muted;
	s->plain_raw = s->mixed || first->callchain ? 0 : first->layout.raw;
	for (size_t i = 0; i < s->nevents; i++)
		if (s->events[i].wanted && s->events[i].fmt && !s->events[i].maker)
			s->by_type[s->events[i].fmt->id] = &s->events[i];
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
	struct stream_event *event = &s->events[s->first];

	if (s->mixed)
		return dispatch_as(event_of(s, rec), rec, raw, raw_size);
	if (!event->fmt || !event->layout.raw)   /* the only one */
		return dispatch_as(event, rec, raw, raw_size);
	*raw = layout_raw(&event->layout, rec, raw_size);
	if (!*raw || *raw_size < 2)
		return NULL;
	event = s->by_type[*(const uint16_t *)*raw];
	return event && *raw_size >= event->fmt->min_size ? event : NULL;
}

const struct stream_event *dispatch_event_of(const struct stream *s, const struct perf_event_header *rec)
{
	return s->mixed ? event_of(s, rec) : &s->events[s->first];
}
