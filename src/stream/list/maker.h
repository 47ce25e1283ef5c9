/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that are made here: source.h. The tracepoints that they are made of stand behind
 * the consumer's events in the stream's list, each once for all who watch it in the same place.
 */
#ifndef STREAM_LIST_MAKER_H
#define STREAM_LIST_MAKER_H

#include "stream/list/source.h"
#include "stream/state/state.h"

struct ring;

/* made->state is taken over in any case; so are the source's options and their text, unless a pointer to them stays.
 * NULL with f. */
struct maker *makers_add(struct stream *s, const char *name, const struct source_made *made, struct stream_opts **config,
			 char **words, struct fault *f);
void maker_set_event(struct maker *m, struct stream_event *ev);
/* The consumer's list is complete: appends what is watched. 0, or -1 with f. */
int makers_watch(struct stream *s, struct fault *f);
/* Events have found their places: 0, or -1 with f. */
int makers_begin(struct stream *s, struct fault *f);
void makers_free(struct stream *s);
/* What the consumer does not want needs nothing watched. */
void makers_settle(struct stream *s);
struct stream_limit *maker_limit(struct maker *m);
/* Whether all who watch the event have come to their end. */
bool makers_are_over(const struct stream_event *watched);
/* The last sample has come: of a run that its consumer did not end. */
void makers_end(struct stream *s);
/* Of a recording: a record about a task. */
void makers_take_task(struct stream *s, const struct pev_record *rec);
/* A sample of an event that is watched. */
void makers_take(struct stream *s, struct ring *ring, const struct stream_event *event,
		 const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu);
#endif
