/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/choice/strays.h"

#include "stream/choice/sampleids.h"
#include "stream/list/list.h"

#include <string.h>

enum { ID_AT = sizeof(struct perf_event_header) };

size_t strays_id_at(const struct perf_event_header *rec)
{
	return rec->type == PERF_RECORD_SAMPLE ? ID_AT : rec->size - sizeof(uint64_t);
}

void strays_begin(struct stream *s)
{
	s->choice.strays = false;
	for (size_t i = 0; s->choice.mixed && i < s->rings.nopened; i++)
		s->choice.strays |= plain_may_stray(s->rings.opened[i].event);
}

static bool is_open(const struct stream_event *ev)
{
	return !ev->maker && ev->wanted && plain_may_stray(ev);
}

/* Only samples without parts of variable length have a fixed size. */
static bool is_of_size(const struct stream_event *ev, uint16_t size)
{
	return !ev->sampling->decode && ev->layout.fixed_end == size;
}

struct stream_event *strays_event(const struct stream *s, const struct perf_event_header *rec)
{
	struct stream_event *last = NULL, *alike = NULL;
	size_t open = 0, fit = 0;

	for (size_t i = 0; s->choice.strays && i < s->list.nevents; i++) {
		struct stream_event *ev = &s->list.events[i];

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
	struct stream_event *ev = NULL;
	uint64_t known = 0;

	*id = 0;
	if (rec->size < ID_AT + 8)
		return NULL;
	memcpy(&known, (const char *)rec + strays_id_at(rec), sizeof(known));
	ev = sampleids_event(s, known);
	if (ev ? !s->record.newest_id || known <= s->record.newest_id : rec->type != PERF_RECORD_SAMPLE)
		return ev;
	ev = ev ? ev : strays_event(s, rec);
	*id = ev ? ev->opened.id : 0;
	return ev;
}

bool strays_are_lost(const struct stream *s, const struct perf_event_header *rec)
{
	uint64_t id;

	return s->choice.strays && rec->type == PERF_RECORD_SAMPLE && rec->size >= ID_AT + 8 &&
	       !strays_whose(s, rec, &id);
}
