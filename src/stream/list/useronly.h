/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User space only, as in perf: if this user may watch a task, but not the kernel, the event
 * excludes the kernel, and its name gets ":u". Events of whole CPUs need privileges in any case.
 */
#ifndef STREAM_LIST_USERONLY_H
#define STREAM_LIST_USERONLY_H

#include "base/fault.h"

#include <perfevent.h>
#include <stdbool.h>

struct stream;
struct stream_event;

/* Applies that to an event that is filled in. user_callchain < 0: do not add the user's part of
 * call chains. 0, or -1 with f. */
int useronly_settle(const struct stream *s, struct stream_event *ev, int user_callchain, struct fault *f);
/* Whether the targets are tasks of which this user may see user space alone. */
bool useronly_is_needed(struct stream *s);
/* Reports in one line the events to which it applied: always if the user named them, or they are recorded (a source: not with -q),
 * else with -v. And those that have no samples in user space. */
void useronly_tell(const struct stream *s);
/* Writes that line; dots: "..." if there are more names. */
void useronly_note(int verbose, const char *names, const char *dots);

/* For an event that was refused on whole CPUs: puts before the remedy what this user may watch, if
 * anything. command: the command accepts a workload. */
void useronly_advise(struct pev_error *err, const union pev_attr_buf *refused, bool command);

/* Whether the kernel may be excluded: not if it was asked for, "cycles:uk". */
bool useronly_is_meant(const char *label);
/* Adds "u" to the modifiers of "cycles:D", or ":u" to "cycles" and "VENDOR:UMASK". To be freed;
 * NULL without memory. */
char *useronly_label(const char *label);
#endif
