/* SPDX-License-Identifier: Apache-2.0 */
/* Rings while they are read: what was lost of them, whose ids their records have, who holds their descriptors. */
#ifndef STREAM_RINGS_RINGS_H
#define STREAM_RINGS_RINGS_H

#include "stream/state/state.h"

/* ids.c */
/* All that is wanted is known: pairs the ids of tasks. 0, or -1 with f. */
int ids_begin(struct stream *s, struct fault *f);
void ids_end(struct stream *s);
/* Whether ids mean the same to the kernel, to /proc and to us, or can be paired: 0, or -1 with f. */
int ids_check(struct fault *f);
/* For sideband_set_consumer(), of a struct stream: what it tells, and hands on. */
void ids_take_task(void *ctx, const struct pev_record *rec);

/* closer.c: the end of the pipe that holds the descriptors in another process, or -1. */
int closer_start(struct stream *s);
void closer_release(int fd);

/* loss.c */
/* start and end: times of the samples around the gap, 0 where they are not known. */
void loss_add(struct stream *s, struct ring *ring, uint64_t count, enum stream_loss_cause cause,
	      uint64_t start, uint64_t end);
void loss_tail(struct stream *s);
/* Into the recording, if there is one: what the ring lost and nothing else in it tells, behind the last
 * record or because it was not taken any more. */
void loss_record(struct stream *s, const struct ring *ring, uint64_t count);
/* What the kernel counted, where nothing more is asked. */
void loss_count(struct stream *s);
void loss_tell(struct stream *s, bool now);

/* throttling.c: THROTTLE and UNTHROTTLE of a ring, and samples while something is throttled. */
void throttling_take(struct stream *s, struct ring *ring, const struct stream_event *event, uint32_t type,
		     const struct pev_throttle *record);
void throttling_end(struct stream *s, struct ring *ring, const struct stream_event *event, uint64_t time);
/* The end of all, at that time. */
void throttling_finish(struct stream *s, uint64_t time);
/* On stderr, at most once a second. */
void throttling_tell(struct stream *s);
#endif
