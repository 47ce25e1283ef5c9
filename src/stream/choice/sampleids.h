/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of the opened events, found in samples as IDENTIFIER. */
#ifndef STREAM_CHOICE_SAMPLEIDS_H
#define STREAM_CHOICE_SAMPLEIDS_H

#include <stdint.h>

struct stream;
struct stream_event;

/* Indexes the ids of all open events. */
void sampleids_index(struct stream *s);
/* The event with that id, or NULL. */
struct stream_event *sampleids_event(const struct stream *s, uint64_t id);
#endif
