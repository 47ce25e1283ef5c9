/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples with the id of another program's event. The kernel counts a software event (page-faults,
 * context-switches and the like) in one loop over all its listeners. It writes the sample's id for
 * the first listener, and leaves it in place for the next ones (since Linux 6.2: perf_tp_event()
 * clears sample_flags between two listeners, do_perf_sw_event() does not). So if another program
 * samples the same page fault, its id may be in our ring, and a call chain made for that program.
 */
#ifndef STREAM_CHOICE_STRAYS_H
#define STREAM_CHOICE_STRAYS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;
struct stream_event;

/* Sets choice.strays if such events are open. */
void strays_begin(struct stream *s);
/* The event of a sample with an unknown id: the only open event that can have such samples, or, of
 * several, the only one whose samples have this size. NULL: not known. */
struct stream_event *strays_event(const struct stream *s, const struct perf_event_header *rec);
/* The event of a record where there are such events: by its id; otherwise by strays_event(), and
 * *id is set to the id that the sample should have: also if the event was opened after the recording had
 * begun. Else *id is 0. NULL: not known. */
struct stream_event *strays_whose(const struct stream *s, const struct perf_event_header *rec, uint64_t *id);
/* Where a record with IDENTIFIER has its id. */
size_t strays_id_at(const struct perf_event_header *rec);
/* Whether the sample cannot be assigned to an event for that reason, and so is lost. */
bool strays_are_lost(const struct stream *s, const struct perf_event_header *rec);

#endif
