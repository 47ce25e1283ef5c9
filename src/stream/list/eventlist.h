/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a stream's events, and what all kinds of events have: a name and a place in the list. */
#ifndef STREAM_LIST_EVENTLIST_H
#define STREAM_LIST_EVENTLIST_H

#include "events/spec.h"
#include "stream/state/consumer.h"

/* Parses -e into s->list.specs. 0, or -1 with f. */
int events_parse(struct stream *s, struct fault *f);
/* Appends an event for this item, with the defaults of all events; NULL with f. Appending another
 * one may move the event: pointers to it become invalid. */
struct stream_event *events_append(struct stream *s, const struct spec_item *item, struct fault *f);
/* Fails (-1 with f) if events of two items have the same name: they would share a handler that
 * cannot tell them apart. */
int events_check_names(const struct stream *s, struct fault *f);
void events_free(struct stream *s);

/* Sets name and word. 0, or -1 with f. */
int event_set_name(struct stream_event *ev, const char *name, const char *word, struct fault *f);
/* Sets the names of a tracepoint's event. 0, or -1 with f. */
int event_set_tracepoint(struct stream_event *ev, const char *sys, const char *name, struct fault *f);
/* Copies the format. 0, or -1 without memory. */
int event_set_stack_format(struct stream_event *ev, const struct pev_format *format);

/* Finds tracefs, or mounts it. 0, or -1 with f. */
int events_find_tracefs(struct stream *s, struct fault *f);
#endif
