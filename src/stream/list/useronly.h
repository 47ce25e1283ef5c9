/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User space only, as perf does it: of tasks that may be watched the kernel's part of an event is left
 * out where this user is refused it, and what is counted says so: ":u". Whole CPUs are for the privileged alone.
 */
#ifndef STREAM_LIST_USERONLY_H
#define STREAM_LIST_USERONLY_H

#include "base/fault.h"

#include <perfevent.h>
#include <stdbool.h>

struct stream;
struct stream_event;

/* Looks whether that is so, once the event is filled in; user_callchain < 0: the event does without the user's
 * part of call chains. 0, or -1 with f. */
int useronly_settle(const struct stream *s, struct stream_event *ev, int user_callchain, struct fault *f);
/* One line for all events for which it is so: where somebody named them, else with -v. */
void useronly_tell(const struct stream *s);
/* The line; dots: "..." if there are more names. */
void useronly_note(int verbose, const char *names, const char *dots);

/* Of an event that was refused on whole CPUs: puts what this user may watch, if that is so, before the remedy.
 * command: the command line can name one. */
void useronly_advise(struct pev_error *err, const union pev_attr_buf *refused, bool command);

/* Whether the kernel's part may be left out: not where it was asked for, "cycles:uk". */
bool useronly_is_meant(const char *label);
/* "cycles:D" gets a letter, "cycles" and "VENDOR:UMASK" a colon before it: to be freed; NULL without memory. */
char *useronly_label(const char *label);
#endif
