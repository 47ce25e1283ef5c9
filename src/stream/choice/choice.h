/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples are delivered: not perf-prof's own, nor those that filters here or limits leave out. */
#ifndef STREAM_CHOICE_CHOICE_H
#define STREAM_CHOICE_CHOICE_H

#include "stream/state/state.h"

/* A sample of a ring or of a recording: to the consumer, to the sources that watch its event, or to nobody. */
void choice_offer(struct stream *s, struct ring *ring, const struct stream_event *event, const struct perf_event_header *rec,
		  const void *raw, uint32_t raw_size, uint32_t cpu);
/* Whether it would be delivered; what filters drop is counted. */
bool choice_wants(struct stream *s, struct ring *ring, const struct perf_event_header *rec);
/* Whether the sample is of an event of ours, but not for the consumer; this is counted. */
bool choice_drops(struct stream *s, const struct ring *ring, const struct perf_event_header *rec);
/* Whether the sample is one that is never delivered, for whatever limit: our own, or filtered here. *id: as
 * strays_whose(). */
bool choice_refuses(const struct stream *s, const struct ring *ring, const struct perf_event_header *rec, uint64_t *id);

/* Most samples are chosen by two looks. */
static inline bool choice_is_plain(const struct stream *s, const struct stream_event *event,
				   const struct perf_event_header *rec)
{
	return __builtin_expect(!own_may_have(&s->choice.own, layout_u32(rec, event->layout.tid)) && !event->choosy, 1);
}
#endif
