/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of the task that ran when an event happened, for filters and sources: they need it before the consumer
 * gets the event, and some consumers look up no names.
 */
#ifndef STREAM_RINGS_RUNNING_H
#define STREAM_RINGS_RUNNING_H

#include "stream/state/state.h"

/* Sets the naming of all events; before the event list is parsed. */
void running_init(struct stream *s);
/* Reads the present names of tasks if they are needed. After stream_new(), before anything is enabled. 0, or -1 with f. */
int running_begin(struct stream *s, struct fault *f);
void running_end(struct stream *s);
#endif
