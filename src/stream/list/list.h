/* SPDX-License-Identifier: Apache-2.0 */
/* The events that -e asks for: of each kind, with its attributes, its group, its filter, and what its samples have. */
#ifndef STREAM_LIST_LIST_H
#define STREAM_LIST_LIST_H

#include "stream/list/eventlist.h"
#include "stream/state/state.h"

/* events.c */
int events_from_specs(struct stream *s, struct fault *f);

/* layouts.c */
/* What samples of each event have, by what is asked for and read: 0, or -1 with f. */
int layouts_choose(struct stream *s, struct fault *f);

/* eventattr.c */
enum event_kind {
	EVENT_TRACEPOINT = 1 << 0, EVENT_PROBE = 1 << 1, EVENT_PLAIN = 1 << 2,
	EVENT_SOURCE = 1 << 3,   /* that samples */
	EVENT_MADE = 1 << 4,     /* that is made here, of other events */
};
/* Whether samples have registers and stack in place of the user's part of their chain. */
bool event_is_unwound(const struct perf_event_attr *a);
/* Sets what the item's attributes say; one of which the command makes no use is an error. 0, or -1 with f. */
int event_attrs_set(const struct stream *s, struct stream_event *ev, const struct spec_item *item, enum event_kind kind,
		    struct fault *f);
/* Whether items may have an attribute of that name. */
bool event_attr_exists(const char *name);

/* plain.c: perf events that are no tracepoints. */
enum plain_answer { PLAIN_NONE, PLAIN_ADDED, PLAIN_FAILED };
enum plain_answer plain_add(struct stream *s, const struct spec_item *item, struct fault *f);
enum { PLAIN_TEXT_SIZE = 600 };
/* Whether the item is one event by its name: no glob. */
bool plain_is_single(const struct spec_item *item);
/* Whether its first slot has terms, and is no filter. */
bool plain_has_terms(const struct spec_item *item);
/* Whether the event's samples may have another program's id: choice/strays.h. */
bool plain_may_stray(const struct stream_event *ev);
/* The item as the library takes it: "cycles:u", "cpu/event=1,umask=2/u". */
void plain_text(const struct spec_item *item, char *buf, size_t size);

/* probeitem.c */
enum { PROBE_SHOWN_SIZE = 300 };
/* What the item's probe is called: without its path. False: it is no probe. */
bool probe_item_name(const struct spec_item *item, char *buf, size_t size);
enum plain_answer probe_add_item(struct stream *s, const struct spec_item *item, struct fault *f);

/* source.c */
enum plain_answer source_add_item(struct stream *s, const struct spec_item *item, struct fault *f);

/* filters.c */
/* Takes the filters of all events apart, and asks the kernel: 0, or -1 with f. */
int filters_prepare(struct stream *s, struct fault *f);
void filters_forget(struct stream *s);
/* Tells on stderr what filters had no value for. */
void filters_tell(const struct stream *s);

/* recorded.c: whether there are samples of that tracepoint. */
bool recording_has(const struct stream *s, const char *sys, const char *name);
/* maker.c's: a tracepoint that a source watches, which is not shown. NULL with f: it was not recorded. */
struct stream_event *recording_watch(struct stream *s, const struct spec_item *item, const char *source,
				     const char *sys, const char *name, struct fault *f);
#endif
