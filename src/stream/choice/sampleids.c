/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/choice/sampleids.h"

#include "stream/state/state.h"

#include <stdlib.h>

static void index_id(struct stream *s, uint64_t id, struct stream_event *event)
{
	size_t i = (id * 0x9e3779b97f4a7c15ull >> 32) & s->id_mask;

	while (s->by_id[i].event)
		i = (i + 1) & s->id_mask;
	s->by_id[i] = (struct id_slot){ id, event };
}

struct stream_event *sampleids_event(const struct stream *s, uint64_t id)
{
	size_t i = (id * 0x9e3779b97f4a7c15ull >> 32) & s->id_mask;

	for (; s->by_id[i].event; i = (i + 1) & s->id_mask)
		if (s->by_id[i].id == id)
			return s->by_id[i].event;
	return NULL;
}

void sampleids_index(struct stream *s)
{
	size_t slots = 16;

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
}
