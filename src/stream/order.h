/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time order over many rings.
 *
 * Each ring has a queue of copied records. A record may be delivered once no ring can
 * still bring an earlier one; the time up to which that holds is the watermark, the
 * rule of which stands in barrier.h. The merge picks the queue with the earliest head by
 * a tournament: a tree in which each node holds the winner of the two below, so that a
 * new head costs one match per level, which the CPU need not predict.
 *
 * Invariants:
 *   - every queue is sorted by time (a record that comes inverted within its ring, as
 *     5.10 and older do, is inserted where it belongs);
 *   - the root is the earliest of all heads and, of equal times, that of the lowest
 *     queue, so that equal times come in a fixed order;
 *   - pops never go back in time, but for records that were pushed below a time already
 *     delivered: these are counted as late;
 *   - chunks in use hold records or are being filled, one per queue: memory is bounded
 *     by max_bytes, that, and what was pushed while order_full().
 */
#ifndef STREAM_ORDER_H
#define STREAM_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_MAX_RECORD = 64 << 10 };

struct order;

struct order_item {
	uint64_t time;
	const void *rec;       /* 8-byte aligned copy, valid until the next pop */
	uint32_t queue;
	uint16_t tag;          /* what order_push_tagged() was given; else 0 */
};

/* max_bytes bounds the copies of all queues together, but for the chunk (64 KiB) that
 * each queue fills. NULL when out of memory. */
struct order *order_new(uint32_t nqueues, size_t max_bytes);
void order_free(struct order *o);
/* Copies a record into a queue. 0, -ENOMEM, or -E2BIG beyond 64 KiB. */
int order_push(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size);
/* The same with a number of the caller's. To write that into the record would cost more: a
 * copy that reads in one piece what was just written in another waits for the store. */
int order_push_tagged(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size,
		      uint16_t tag);
/* Nothing more should be pushed than what lets the watermark move on. */
bool order_full(const struct order *o);
bool order_empty(const struct order *o);
/* The earliest record if its time is <= watermark; false if there is none. */
bool order_pop(struct order *o, uint64_t watermark, struct order_item *item);
/* Records that came below a time already delivered. */
uint64_t order_late(const struct order *o);

/* All that the queue's ring will ever bring up to that time was pushed. It never sinks. */
void order_set_known(struct order *o, uint32_t queue, uint64_t time);
uint64_t order_known(const struct order *o, uint32_t queue);
/* The earliest of these times: the watermark. */
uint64_t order_watermark(const struct order *o);

#endif
