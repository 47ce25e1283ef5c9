/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of descriptors, which samples have as their IDENTIFIER. */
#ifndef STREAM_CHOICE_SAMPLEIDS_H
#define STREAM_CHOICE_SAMPLEIDS_H

#include <stdint.h>

struct stream;
struct stream_event;

/* Of all that is open. */
void sampleids_index(struct stream *s);
/* The event of that id; NULL: there is none. */
struct stream_event *sampleids_event(const struct stream *s, uint64_t id);
#endif
