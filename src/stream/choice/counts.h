/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts in samples (PERF_SAMPLE_READ): a sample tells how far its event's counter, or those of
 * its group, have come. What they went on by since the sample before is what perf calls the
 * members' periods: struct stream_counts, in the event, is of the sample that is being delivered.
 *
 * A counter is one descriptor's: of a CPU, or of a task on a CPU. Where children inherit it, a
 * sample has the count of its own task (Linux 6.12), so it is one for each task then; a task on its way
 * out has no id any more, and is taken for the last one that was seen there. A counter begins
 * at 0: the first sample's counts are since the event was enabled, and the sum over all samples
 * is what had been counted at the last one.
 */
#ifndef STREAM_CHOICE_COUNTS_H
#define STREAM_CHOICE_COUNTS_H

#include "base/fault.h"

#include <stdbool.h>

struct perf_event_header;
struct stream;
struct stream_event;
struct counts;

/* Whether its samples have counts that can be told apart. */
bool counts_are_in(const struct stream_event *event);
/* All is opened, or the recording is known. 0, or -1 with f. */
int counts_begin(struct stream *s, struct fault *f);
void counts_free(struct stream *s);
/* Fills event->counts, which isn't NULL. What the sample contradicts is left out. */
void counts_take(struct stream *s, const struct stream_event *event, const struct perf_event_header *rec);
#endif
