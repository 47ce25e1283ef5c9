/* SPDX-License-Identifier: Apache-2.0 */
/* The samples that make up the profile, and text for all formats. */
#include "export/convert.h"

#include "base/escape.h"
#include "base/note.h"

#include <string.h>

bool convert_profiles(const struct convert *c, const struct stream_event *event)
{
	if (c->all)
		return analysis_has_place(event);
	return c->profile && event->opened.family == c->profile->opened.family;
}

void convert_tell_event(const struct convert *c, struct analysis *a)
{
	size_t n, sampled = 0, others = 0;
	const struct stream_event *events = stream_events(a->stream, &n);
	char name[256];

	for (size_t i = 0; i < n; i++) {
		sampled += events[i].sampling != NULL;
		others += events[i].sampling && !convert_profiles(c, &events[i]);
	}
	if (c->profile && !c->all && others)
		note(a->opts->stream.verbose, "--to %s converts %s, the first of %zu events; -e EVENT chooses another",
		     c->format->name, analysis_family(a, c->profile, name, sizeof(name)), sampled);
}

uint64_t convert_interval(const struct convert *c)
{
	const struct perf_event_attr *attr = c->profile && c->profile->sampling && !c->all
					     ? &c->profile->sampling->attr.attr : NULL;

	if (!attr || !attr->sample_period)
		return 0;
	if (attr->freq)
		return 1000000000 / attr->sample_freq;
	return analysis_is_clock(c->profile) ? attr->sample_period : 0;
}

const char *convert_text(const char *text, char *buf, size_t size)
{
	escape_terminal(text, strlen(text), buf, size);
	return buf;
}

const char *convert_fields(struct analysis *a, const struct analysis_sample *s)
{
	return s->event->fmt ? tracefmt_print(stream_formats(a->stream), s->event->fmt, s->view.raw,
					      s->view.raw_size, NULL) : NULL;
}
