/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which event a sample is of, and where its raw data lies. If all events are tracepoints that are laid out alike, the
 * raw data begins with the answer (common_type); otherwise each sample has an IDENTIFIER.
 */
#ifndef STREAM_CHOICE_DISPATCH_H
#define STREAM_CHOICE_DISPATCH_H

#include "stream/state/state.h"

/* What is wanted is known: fills the tables for this. */
void dispatch_index(struct stream *s);
/* The raw data of a sample of this event; NULL where it contradicts the event's format. */
struct stream_event *dispatch_as(struct stream_event *event, const struct perf_event_header *rec, const void **raw,
				 uint32_t *raw_size);
/* dispatch_sample() for all but the usual layout. */
struct stream_event *dispatch_any(const struct stream *s, const struct perf_event_header *rec, const void **raw,
				  uint32_t *raw_size);
/* The event of a sample that has an identifier, if need be by strays_event(); NULL if it is none of ours. */
const struct stream_event *dispatch_event_of(const struct stream *s, const struct perf_event_header *rec);

/* The usual layout: all events alike, nothing of variable length before the raw data. */
static inline struct stream_event *dispatch_plain(const struct stream *s, const struct perf_event_header *rec,
						  const void **raw, uint32_t *raw_size)
{
	uint32_t at = s->choice.plain_raw;
	struct stream_event *event;

	if (rec->size < at + 8)
		return NULL;
	*raw_size = layout_u32(rec, (uint8_t)at);
	*raw = (const char *)rec + at + 4;
	if (*raw_size < 2 || *raw_size > rec->size - at - 4)
		return NULL;
	event = s->choice.by_type[*(const uint16_t *)*raw];
	return event && *raw_size >= event->min_raw ? event : NULL;
}

/* The event and its raw data; NULL for a sample that contradicts its format. */
static inline struct stream_event *dispatch_sample(const struct stream *s, const struct perf_event_header *rec,
						   const void **raw, uint32_t *raw_size)
{
	if (__builtin_expect(s->choice.plain_raw != 0, 1))
		return dispatch_plain(s, rec, raw, raw_size);
	return dispatch_any(s, rec, raw, raw_size);
}
#endif
