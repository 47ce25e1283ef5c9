/* SPDX-License-Identifier: Apache-2.0 */
/* What a ring says of losses: by records, by bytes that are none, and by samples of no event. */
#ifndef STREAM_RINGS_RINGRECORDS_H
#define STREAM_RINGS_RINGRECORDS_H

#include <linux/perf_event.h>
#include <stdint.h>

struct ring;
struct stream;

/* What a record tells to be lost (0: it doesn't). Records of throttling are taken, too. */
uint64_t ring_take_lost(struct stream *s, struct ring *ring, const struct perf_event_header *rec);
/* A sample while something is throttled. */
void ring_end_throttled(struct stream *s, struct ring *ring, const struct perf_event_header *rec);
/* A sample without an event is malformed, or a stray that is lost. */
void ring_count_unknown(struct stream *s, struct ring *ring, const struct perf_event_header *rec);
void ring_check_damage(struct stream *s, struct ring *ring);
#endif
