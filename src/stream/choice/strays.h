/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples with another program's id. The kernel counts a software event (page-faults, context-switches and the
 * like) in one walk over all who want it, makes a sample's id for the first of them and leaves it for the next
 * ones (since Linux 6.2: sample_flags, which perf_tp_event() clears between two, and do_perf_sw_event() does not).
 * So a page fault that somebody else samples, too, may lie in our ring with that one's id, and with a tail that
 * is that one's call chain.
 */
#ifndef STREAM_CHOICE_STRAYS_H
#define STREAM_CHOICE_STRAYS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct stream;
struct stream_event;

/* Looks for such events among those that are open. */
void strays_begin(struct stream *s);
/* The event that a sample with an id of nobody here is of: the one that may have such, or, of several, the
 * one whose samples have that size. NULL: not known. */
struct stream_event *strays_event(const struct stream *s, const struct perf_event_header *rec);
/* The event of a sample where there are such events: by its id, or by strays_event(); then *id is the one that it
 * should have, else 0. NULL: not known. */
struct stream_event *strays_whose(const struct stream *s, const struct perf_event_header *rec, uint64_t *id);
/* Whether it is a sample of ours, of which nobody knows what event it is of. */
bool strays_are_lost(const struct stream *s, const struct perf_event_header *rec);

#endif
