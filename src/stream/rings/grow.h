/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings that grow: a ring that lost events is replaced by a larger one, unless -m or --buffer sets
 * its size.
 *
 * A thread maps the larger ring and redirects the events of the old one to it, one after another.
 * For each event the kernel waits for an RCU grace period (5 to 20 ms). Children that inherited an
 * event write to the ring of their parent's event.
 *
 *	1. events are redirected one by one   only the old ring is read
 *	2. a last grace period: no writer     only the old ring is read
 *	   is left in the old ring
 *	3. the old ring is empty              the larger ring takes its place
 *
 * So each record is in exactly one of the rings, and the records of one event on one CPU stay in
 * order. Records of different events may not: an event that was redirected early is read late.
 * --order waits for it, and so do the rounds of a recording.
 */
#ifndef STREAM_RINGS_GROW_H
#define STREAM_RINGS_GROW_H

#include <stdbool.h>
#include <stdint.h>

struct ring;
struct stream;
struct growth;

/* Call it when the rings are open. fixed: the user chose their size, they do not grow. */
void grow_allow(struct stream *s, bool fixed);
/* Between two rounds: starts to replace rings that lost events, and exchanges those that are ready. */
void grow_round(struct stream *s);
/* Waits for the threads; later rounds exchange the rings that are ready. */
void grow_wait(struct stream *s);
/* Whether a ring is being replaced: then its larger ring may hold records that nobody has read. */
bool grow_is_pending(const struct stream *s);
/* Exchanges an empty ring, if its larger ring is ready. True if it did: the larger ring may have
 * records. */
bool grow_exchange(struct stream *s, struct ring *ring);
/* Whether any ring can still grow. */
bool grow_can(const struct stream *s);
/* After grow_wait(): frees a larger ring that was not exchanged. */
void grow_free(struct ring *ring);

#endif
