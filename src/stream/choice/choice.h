/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples are delivered: not those of perf-prof itself, nor those that filters in user space
 * or limits drop. */
#ifndef STREAM_CHOICE_CHOICE_H
#define STREAM_CHOICE_CHOICE_H

#include "stream/state/state.h"

/* Passes a sample of a ring or a recording to the consumer or to the sources that watch its event,
 * unless it is dropped. */
void choice_offer(struct stream *s, struct ring *ring, const struct stream_event *event, const struct perf_event_header *rec,
		  const void *raw, uint32_t raw_size, uint32_t cpu);
/* Whether the sample would be delivered; counts those that filters and limits drop. */
bool choice_wants(struct stream *s, struct ring *ring, const struct perf_event_header *rec);
/* Whether the sample belongs to an event of the stream, but is perf-prof's own or fails a filter;
 * counts such samples. */
bool choice_drops(struct stream *s, const struct ring *ring, const struct perf_event_header *rec);
/* Whether the sample is never delivered, even without limits: perf-prof's own, filtered, or of an
 * event that is not recorded. Sets *id as strays_whose() does. */
bool choice_refuses(const struct stream *s, const struct ring *ring, const struct perf_event_header *rec, uint64_t *id);

/* The fast path: true for samples that are delivered for certain. */
static inline bool choice_is_plain(const struct stream *s, const struct stream_event *event,
				   const struct perf_event_header *rec)
{
	return __builtin_expect(!own_may_have(&s->choice.own, layout_u32(rec, event->layout.tid)) && !event->choosy, 1);
}
#endif
