/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings that grow: a ring that lost events gets a larger one, unless -m or --buffer set its size.
 *
 * A thread maps the larger ring and redirects the events of the old one to it, one after another:
 * each waits for a grace period of RCU in the kernel (5 to 20 ms), and children that inherited an
 * event write where their parent's writes. Until all are redirected and no writer can still be
 * in the old ring, only the old one is read; then it is emptied, and the larger one takes its
 * place. So each record is in one of the two, and those of an event stay in their order on a CPU. Of
 * several events, the one that moved first is read late: --order waits for it, and so do the rounds
 * of a recording.
 */
#ifndef STREAM_RINGS_GROW_H
#define STREAM_RINGS_GROW_H

#include <stdbool.h>
#include <stdint.h>

struct ring;
struct stream;
struct growth;

/* The rings are open. fixed: their size was asked for. */
void grow_allow(struct stream *s, bool fixed);
/* Between two rounds: begins with rings that lost events, and exchanges those that are ready and empty. */
void grow_round(struct stream *s);
/* Waits for the threads: what is ready is exchanged by the next rounds. */
void grow_wait(struct stream *s);
/* Whether a ring is being exchanged: what the larger one holds was not read yet. */
bool grow_is_pending(const struct stream *s);
/* An emptied ring that is being exchanged, after grow_wait(): whether there is more to read. */
bool grow_exchange(struct stream *s, struct ring *ring);
/* Whether a loss of now makes a ring grow. */
bool grow_can(const struct stream *s);
/* After grow_wait(), of a ring that was not exchanged any more. */
void grow_free(struct ring *ring);

#endif
