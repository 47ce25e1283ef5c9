/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which event a sample belongs to, and where its raw data lies. If all events are tracepoints with
 * the same layout, the raw data begins with the event's id (common_type). Otherwise each sample has
 * an IDENTIFIER, unless there is only one event.
 */
#ifndef STREAM_CHOICE_DISPATCH_H
#define STREAM_CHOICE_DISPATCH_H

#include "stream/state/state.h"

/* Fills the tables for this. Call it when the consumer has chosen what it wants. */
void dispatch_index(struct stream *s);
/* Finds the raw data of a sample of this event. NULL if the sample contradicts the event's format. */
struct stream_event *dispatch_as(struct stream_event *event, const struct perf_event_header *rec, const void **raw,
				 uint32_t *raw_size);
/* The slow path of dispatch_sample(): all layouts except the usual one. */
struct stream_event *dispatch_any(const struct stream *s, const struct perf_event_header *rec, const void **raw,
				  uint32_t *raw_size);
/* The event of a sample, by its IDENTIFIER or strays_event(); NULL if it is none of the stream's. */
const struct stream_event *dispatch_event_of(const struct stream *s, const struct perf_event_header *rec);

/* The usual layout: all events alike, and no part of variable length before the raw data. */
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

/* Finds the event and its raw data; NULL if the sample is malformed. */
static inline struct stream_event *dispatch_sample(const struct stream *s, const struct perf_event_header *rec,
						   const void **raw, uint32_t *raw_size)
{
	if (__builtin_expect(s->choice.plain_raw != 0, 1))
		return dispatch_plain(s, rec, raw, raw_size);
	return dispatch_any(s, rec, raw, raw_size);
}
#endif
