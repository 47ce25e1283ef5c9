/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share. */
#ifndef STREAM_PRIVATE_H
#define STREAM_PRIVATE_H

#include "stream/state/state.h"
#include "stream/stream.h"

/* open.c */
int open_all(struct stream *s, struct fault *f);
void close_all(struct stream *s);

/* drain.c */
/* Delivers up to one slice of every ring; returns whether something is left. */
bool drain_round(struct stream *s);
/* Counts what is left as lost, without delivering. */
void drain_discard(struct stream *s);
/* For ordered.c: one sample to the consumer. */
void drain_deliver(struct stream *s, struct ring *ring, const struct perf_event_header *rec);

/* ordered.c: the same in time order. */
int ordered_start(struct stream *s, struct fault *f);
void ordered_stop(struct stream *s);
bool ordered_round(struct stream *s);
void ordered_discard(struct stream *s);
#endif
