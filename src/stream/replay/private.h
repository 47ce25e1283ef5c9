/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of replay. */
#ifndef STREAM_REPLAY_PRIVATE_H
#define STREAM_REPLAY_PRIVATE_H

#include "stream/state/state.h"
#include "stream/replay/replay.h"

/* Bytes of records that wait for earlier ones; of a recording with rounds, which are as large as its recorder's rings. */
enum { REPLAY_MAX_HELD = 48 << 20, REPLAY_MAX_ROUNDS = 1 << 30 };
enum { MIXED = UINT16_MAX };           /* tag of a run with samples of several events; otherwise the tag is the
				        * index of the event */

/* events.c */
int recording_events(struct stream *s, struct fault *f);
/* delivery.c: handles a record about a task. */
void delivery_task(struct stream *s, const struct perf_event_header *rec);
/* Delivers everything up to that time. */
void delivery_until(struct stream *s, uint64_t watermark);
/* If too many bytes are held, delivers the earliest ones, although earlier ones may still follow. */
void delivery_make_room(struct stream *s);
/* runs.c: takes a wanted sample, and those behind it that form a run with it. False: the caller has
 * to take the sample alone. */
bool run_take(struct stream *s, const struct perf_event_header *rec, uint32_t event, uint32_t queue,
	      uint64_t time);

static inline uint32_t cpu_of(const struct track *t, const struct perf_event_header *rec)
{
	return t->cpu_at ? layout_u32(rec, t->cpu_at) : UINT32_MAX;
}
#endif
