/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time order over many rings.
 *
 * Each ring has a queue of copied records. A record may be delivered once no ring can
 * still bring an earlier one; the time up to which that holds is the watermark, found
 * by barrier.c. The merge picks the queue with the earliest head: a binary heap of
 * queues, of which only the top is touched while one queue's run lasts.
 *
 * Invariants:
 *   - every queue is sorted by time (a record that comes inverted within its ring, as
 *     5.10 and older do, is inserted where it belongs);
 *   - the heap holds exactly the queues that are not empty, ordered by (head time,
 *     queue), so that equal times come in a fixed order;
 *   - pops never go back in time, but for records that were pushed below a time already
 *     delivered: these are counted as late.
 */
#ifndef STREAM_ORDER_H
#define STREAM_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order;

struct order_item {
	uint64_t time;
	const void *rec;       /* 8-byte aligned copy, valid until the next pop */
	uint32_t queue;
};

/* max_bytes bounds the copies of all queues together. NULL when out of memory. */
struct order *order_new(uint32_t nqueues, size_t max_bytes);
void order_free(struct order *o);
/* Copies a record of `size` bytes (a multiple of 8, at most 64 KiB) into a queue. 0, or
 * -ENOMEM. May pass max_bytes by one chunk: check order_full() before a slice. */
int order_push(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size);
bool order_full(const struct order *o);
bool order_empty(const struct order *o);
/* The earliest record if its time is <= watermark; false if there is none. */
bool order_pop(struct order *o, uint64_t watermark, struct order_item *item);
/* Records that came below a time already delivered. */
uint64_t order_late(const struct order *o);

#endif
