/* SPDX-License-Identifier: Apache-2.0 */
/* The events of -e: their kinds, attributes, groups and filters, and the parts of their samples. */
#ifndef STREAM_LIST_LIST_H
#define STREAM_LIST_LIST_H

#include "events/spec.h"
#include "stream/state/consumer.h"
#include "stream/state/state.h"

/* The list of a stream's events, and what all kinds of events have: a name and a place in the list. */

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

/* events.c */
int events_from_specs(struct stream *s, struct fault *f);

/* chainways.c: decides how the user part of call chains is found where it is left to us (CHAINS_AUTO), and reports it. */
void chainways_settle(struct stream *s);

/* layouts.c */
/* Chooses the parts of each event's samples, by what -e asks for and the consumer reads. 0, or -1
 * with f. */
int layouts_choose(struct stream *s, struct fault *f);

/* eventattr.c */
enum event_kind {
	EVENT_TRACEPOINT = 1 << 0, EVENT_PROBE = 1 << 1, EVENT_PLAIN = 1 << 2,
	EVENT_SOURCE = 1 << 3,   /* a source that samples */
	EVENT_MADE = 1 << 4,     /* an event that a source makes from others */
};
/* Whether samples have registers and stack instead of the user's part of the call chain. */
bool event_is_unwound(const struct perf_event_attr *a);
/* Applies the attributes of the item. An attribute that the command cannot use is an error. 0, or
 * -1 with f. */
int event_attrs_set(const struct stream *s, struct stream_event *ev, const struct spec_item *item, enum event_kind kind,
		    struct fault *f);
/* Whether there is an attribute of that name. */
bool event_attr_exists(const char *name);

/* plain.c: perf events that are no tracepoints. */
enum plain_answer { PLAIN_NONE, PLAIN_ADDED, PLAIN_FAILED };
enum plain_answer plain_add(struct stream *s, const struct spec_item *item, struct fault *f);
enum { PLAIN_TEXT_SIZE = 600 };
/* Whether the item names one event: no glob, group or list. */
bool plain_is_single(const struct spec_item *item);
/* Whether its first slot has terms rather than a filter. */
bool plain_has_terms(const struct spec_item *item);
/* Whether samples of the event may have the id of another program's event: choice/strays.h. */
bool plain_may_stray(const struct stream_event *ev);
/* The item as pev_attr_parse() takes it: "cycles:u", "cpu/event=1,umask=2/u". */
void plain_text(const struct spec_item *item, char *buf, size_t size);

/* probeitem.c */
enum { PROBE_SHOWN_SIZE = 300 };
/* The name of the item's probe, without its path. False: the item is no probe. */
bool probe_item_name(const struct spec_item *item, char *buf, size_t size);
enum plain_answer probe_add_item(struct stream *s, const struct spec_item *item, struct fault *f);

/* source.c */
enum plain_answer source_add_item(struct stream *s, const struct spec_item *item, struct fault *f);

/* filters.c */
/* Parses the filters of all events, and has the kernel check its part of each. 0, or -1 with f. */
int filters_prepare(struct stream *s, struct fault *f);
void filters_forget(struct stream *s);
/* Reports on stderr for how many events a filter had no value. */
void filters_tell(const struct stream *s);

/* recorded.c: whether the recording has samples of that tracepoint. */
bool recording_has(const struct stream *s, const char *sys, const char *name);
/* For maker.c: appends a tracepoint that a source watches. NULL with f if it was not recorded. */
struct stream_event *recording_watch(struct stream *s, const struct spec_item *item, const char *source,
				     const char *sys, const char *name, struct fault *f);
#endif
