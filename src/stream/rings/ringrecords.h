/* SPDX-License-Identifier: Apache-2.0 */
/* Losses that a ring shows: LOST records, bytes that are no record, and samples of no event. */
#ifndef STREAM_RINGS_RINGRECORDS_H
#define STREAM_RINGS_RINGRECORDS_H

#include <linux/perf_event.h>
#include <stdint.h>

struct ring;
struct stream;

/* The number of lost records or samples that this record reports; 0 for other records. Also handles
 * THROTTLE and UNTHROTTLE. */
uint64_t ring_take_lost(struct stream *s, struct ring *ring, const struct perf_event_header *rec);
/* A sample may end a throttled span. */
void ring_end_throttled(struct stream *s, struct ring *ring, const struct perf_event_header *rec);
/* Counts a sample without an event: malformed, or a stray that is lost. */
void ring_count_unknown(struct stream *s, struct ring *ring, const struct perf_event_header *rec);
void ring_check_damage(struct stream *s, struct ring *ring);
#endif
