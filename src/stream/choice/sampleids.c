/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/choice/sampleids.h"

#include "base/hash.h"
#include "stream/state/state.h"

#include <stdlib.h>

static void index_id(struct stream *s, uint64_t id, struct stream_event *event)
{
	size_t i = hash_number(id) & s->choice.id_mask;

	while (s->choice.by_id[i].event)
		i = (i + 1) & s->choice.id_mask;
	s->choice.by_id[i] = (struct id_slot){ id, event };
}

struct stream_event *sampleids_event(const struct stream *s, uint64_t id)
{
	size_t i = hash_number(id) & s->choice.id_mask;

	for (; s->choice.by_id[i].event; i = (i + 1) & s->choice.id_mask)
		if (s->choice.by_id[i].id == id)
			return s->choice.by_id[i].event;
	return NULL;
}

void sampleids_index(struct stream *s)
{
	size_t slots = 16;

	free(s->choice.by_id);
	while (slots < 2 * s->rings.nopened + 2)
		slots *= 2;
	s->choice.by_id = calloc(slots, sizeof(*s->choice.by_id));
	s->choice.id_mask = slots - 1;
	for (size_t i = 0; s->choice.by_id && i < s->rings.nopened; i++) {
		uint64_t id;

		if (pev_event_id(s->rings.opened[i].ev, &id))
			continue;
		index_id(s, id, s->rings.opened[i].event);
		if (!s->record.newest_id || id <= s->record.newest_id)
			s->rings.opened[i].event->opened.id = id;
	}
}
