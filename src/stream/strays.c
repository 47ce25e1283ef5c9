/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/strays.h"

#include "stream/private.h"
#include "stream/sampleids.h"

enum { ID_AT = sizeof(struct perf_event_header) };

bool strays_are_of(const struct stream_event *ev)
{
	const struct perf_event_attr *a = ev->sampling ? &ev->sampling->attr.attr : NULL;

	return a && a->type == PERF_TYPE_SOFTWARE && !rate_is_clock(a);
}

void strays_begin(struct stream *s)
{
	s->strays = false;
	for (size_t i = 0; s->mixed && i < s->nopened; i++)
		s->strays |= strays_are_of(s->opened[i].event);
}

static bool is_open(const struct stream_event *ev)
{
	return !ev->maker && ev->wanted && strays_are_of(ev);
}

/* Samples without parts of variable length are of one size. */
static bool is_of_size(const struct stream_event *ev, uint16_t size)
{
	return !ev->sampling->decode && ev->layout.fixed_end == size;
}

struct stream_event *strays_event(const struct stream *s, const struct perf_event_header *rec)
{
	struct stream_event *last = NULL, *alike = NULL;
	size_t open = 0, fit = 0;

	for (size_t i = 0; s->strays && i < s->nevents; i++) {
		struct stream_event *ev = &s->events[i];

		if (!is_open(ev))
			continue;
		last = ev;
		open++;
		if (is_of_size(ev, rec->size)) {
			alike = ev;
			fit++;
		}
	}
	return open == 1 ? last : fit == 1 ? alike : NULL;
}

struct stream_event *strays_whose(const struct stream *s, const struct perf_event_header *rec, uint64_t *id)
{
	struct stream_event *ev = rec->size < ID_AT + 8 ? NULL : sampleids_event(s, layout_u64(rec, ID_AT));

	*id = 0;
	if (__builtin_expect(ev != NULL, 1) || rec->size < ID_AT + 8)
		return ev;
	ev = strays_event(s, rec);
	*id = ev ? ev->id : 0;
	return ev;
}

bool strays_are_lost(const struct stream *s, const struct perf_event_header *rec)
{
	uint64_t id;

	return s->strays && rec->type == PERF_RECORD_SAMPLE && rec->size >= ID_AT + 8 && !strays_whose(s, rec, &id);
}
