/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of replay share. */
#ifndef STREAM_REPLAY_PRIVATE_H
#define STREAM_REPLAY_PRIVATE_H

#include "stream/state/state.h"
#include "stream/replay/replay.h"

enum { REPLAY_MAX_HELD = 48 << 20 };   /* bytes of records that wait for earlier ones */
enum { MIXED = UINT16_MAX };           /* tag of a run of several events; else it is the event's index */

/* events.c */
int recording_events(struct stream *s, struct fault *f);
/* delivery.c: a record about a task. */
void delivery_task(struct stream *s, const struct perf_event_header *rec);
/* All that is due up to that time. */
void delivery_until(struct stream *s, uint64_t watermark);
/* Where too much is held: the earliest goes, though earlier ones may still come. */
void delivery_make_room(struct stream *s);
/* runs.c: a sample that is wanted, and those behind it that make a run with it. False where it
 * is to be taken alone. */
bool run_take(struct stream *s, const struct perf_event_header *rec, uint32_t event, uint32_t queue,
	      uint64_t time);

static inline uint32_t cpu_of(const struct track *t, const struct perf_event_header *rec)
{
	return t->cpu_at ? layout_u32(rec, t->cpu_at) : UINT32_MAX;
}
#endif
