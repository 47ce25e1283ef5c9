/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events made by sources: source.h. The tracepoints that sources watch are in the stream's list
 * behind the consumer's events. Sources that watch the same one with the same targets share it.
 */
#ifndef STREAM_LIST_MAKER_H
#define STREAM_LIST_MAKER_H

#include "stream/list/source.h"
#include "stream/state/state.h"

struct ring;

/* Takes over made->state, even if it fails. Also takes over *config and *words, and sets them to
 * NULL; if it could not, they still belong to the caller. NULL with f. */
struct maker *makers_add(struct stream *s, const char *name, const struct source_made *made, struct stream_opts **config,
			 char **words, struct fault *f);
void maker_set_event(struct maker *m, struct stream_event *ev);
/* The consumer's events are complete: appends the tracepoints that sources watch. 0, or -1 with f. */
int makers_watch(struct stream *s, struct fault *f);
/* The list is complete, so events do not move any more: calls begin() of each source. 0, or -1 with f. */
int makers_begin(struct stream *s, struct fault *f);
void makers_free(struct stream *s);
/* Marks a watched tracepoint as wanted only if the consumer wants an event that is made from it. */
void makers_settle(struct stream *s);
struct stream_limit *maker_limit(struct maker *m);
/* Whether all sources that watch the event have reached their -N. */
bool makers_are_over(const struct stream_event *watched);
/* All samples have been delivered, and the consumer did not stop the run: calls end() of the sources. */
void makers_end(struct stream *s);
/* Passes a record about a task to the sources. */
void makers_take_task(struct stream *s, const struct pev_record *rec);
/* Passes a sample to the sources that watch its event. */
void makers_take(struct stream *s, struct ring *ring, const struct stream_event *event,
		 const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu);
#endif
