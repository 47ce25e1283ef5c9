/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room. */
#ifndef STREAM_PRIVATE_H
#define STREAM_PRIVATE_H

#include "stream/state/state.h"
#include "stream/stream.h"

/* open.c */
int open_all(struct stream *s, struct fault *f);
void close_all(struct stream *s);
/* 0; -ESRCH if the task has ended; with f: -errno of a shortage, or -1. There is room in s->rings.opened. */
int open_one(struct stream *s, struct stream_event *event, const struct task_target *task, struct ring *ring, struct fault *f);

/* drain.c */
/* Delivers at most one slice from each ring. True if there is more. */
bool drain_round(struct stream *s);
/* Counts what is left in the rings as lost. */
void drain_discard(struct stream *s);
/* Delivers one sample; for ordered.c. */
void drain_deliver(struct stream *s, struct ring *ring, const struct perf_event_header *rec);

/* ordered.c: the same in order of time. */
int ordered_start(struct stream *s, struct fault *f);
void ordered_stop(struct stream *s);
bool ordered_round(struct stream *s);
void ordered_discard(struct stream *s);
#endif
