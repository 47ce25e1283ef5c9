/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts in samples (PERF_SAMPLE_READ): a sample carries the current value of its event's counter,
 * or of all counters in its group. The difference to the previous sample is what perf calls the
 * period of a group member. struct stream_counts, in the event, describes the sample that is being
 * delivered.
 *
 * A counter belongs to one descriptor: of a CPU, or of a task on a CPU. If children inherit the
 * event, each sample has the count of its own task (Linux 6.12 and later), so there is one counter
 * per task. The sample of a task that is exiting has no id any more: it is attributed to the last
 * task seen on that descriptor. Counters begin at 0, so the first sample counts from when the event
 * was enabled, and the deltas of all samples add up to the last value.
 */
#ifndef STREAM_CHOICE_COUNTS_H
#define STREAM_CHOICE_COUNTS_H

#include "base/fault.h"

#include <stdbool.h>

struct perf_event_header;
struct stream;
struct stream_event;
struct counts;

/* Whether samples of the event have counts, with ids that assign them to events. */
bool counts_are_in(const struct stream_event *event);
/* Call it when all events are open, or the recording's events are known. 0, or -1 with f. */
int counts_begin(struct stream *s, struct fault *f);
void counts_free(struct stream *s);
/* Fills event->counts, which must not be NULL. Leaves out counts that are malformed or of unknown ids. */
void counts_take(struct stream *s, const struct stream_event *event, const struct perf_event_header *rec);
#endif
