/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/state/mappings.h"

#include "stream/state/state.h"

static bool has_stack(const struct stream_event *event)
{
	return event->wanted && event->opened.stack_format;
}

bool stream_has_stacks(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (has_stack(&s->list.events[i]))
			return true;
	return false;
}

static bool samples_each(const struct stream_event *event)
{
	const struct perf_event_attr *attr = event->sampling ? &event->sampling->attr.attr : NULL;

	return !attr || (!attr->freq && attr->sample_period == 1);
}

bool stream_has_stack_of_each(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (has_stack(&s->list.events[i]) && samples_each(&s->list.events[i]))
			return true;
	return false;
}

bool stream_has_samples_of_each(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].wanted && samples_each(&s->list.events[i]))
			return true;
	return false;
}

bool stream_event_has_addresses(const struct stream_event *event, bool user)
{
	if (event->names_ip || (event->sampling && event->sampling->shape == SHAPE_FAULT))
		return true;
	return event->callchain && (!user || event->asked.chain_user);
}

bool stream_wants_mappings(const struct stream *s)
{
	if (s->wants_mappings)
		return true;
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].wanted && stream_event_has_addresses(&s->list.events[i], true))
			return true;
	return false;
}

/* for unwind tables, which perf reads from the mapping next to the code */
bool mappings_have_data(const struct stream *s)
{
	return s->wants_data || (s->opts->record && stream_has_stacks(s));
}

void stream_want_data(struct stream *s)
{
	s->wants_data = true;
}

void stream_want_mappings(struct stream *s)
{
	s->wants_mappings = true;
}

bool stream_has_mappings(const struct stream *s)
{
	return (s->sideband || s->replay) && stream_wants_mappings(s);
}
