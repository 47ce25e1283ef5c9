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
 *   - of a run that is the head of its queue, those records are due at once that come before
 *     the head of every other queue: so long the tournament stays as it is;
 *   - chunks in use hold records or are being filled, one per queue: memory is bounded
 *     by max_bytes, that, and what was pushed while order_full().
 */
#ifndef STREAM_ORDER_ORDER_H
#define STREAM_ORDER_ORDER_H

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

/* Records that lie one behind another in memory of the caller's, none earlier than the one
 * before it. They are not copied. */
struct order_run {
	const char *at, *end;
	void *memory;          /* the caller's name for it */
	uint64_t first, last;  /* times */
	uint8_t time_at;       /* where in each record its time lies, 8-byte aligned */
};

/* What is due first: a record, or the first ones of a run. */
struct order_due {
	struct order_item item;        /* of a run: its first record */
	const char *end;               /* NULL: no run */
	uint64_t until;                /* the last time up to which the run's are due */
	uint8_t time_at;
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
/* A run of records of the queue, none earlier than what was pushed to it before, as order_takes_run()
 * tells. The same memory can be pushed several times. 0 or -ENOMEM. */
int order_push_run(struct order *o, uint32_t queue, const struct order_run *run, uint16_t tag);
bool order_takes_run(const struct order *o, uint32_t queue, uint64_t first);
/* Nothing more should be pushed than what lets the watermark move on. */
bool order_full(const struct order *o);
bool order_empty(const struct order *o);
/* The earliest record if its time is <= watermark; false if there is none. */
bool order_pop(struct order *o, uint64_t watermark, struct order_item *item);
/* The same where there are runs. Those of a run that were looked at are then passed: up to `at`,
 * a record of it or its end; `time` is that of the last one. Returns the run's memory when its
 * end was reached, else NULL. */
bool order_due(struct order *o, uint64_t watermark, struct order_due *due);
void *order_pass(struct order *o, const struct order_due *due, const char *at, uint64_t time);
/* Bytes of copies that don't get less by waiting: order_full() bounds them. */
size_t order_bytes(const struct order *o);
/* Records that came below a time already delivered. */
uint64_t order_late(const struct order *o);

/* All that the queue's ring will ever bring up to that time was pushed. It never sinks. */
void order_set_known(struct order *o, uint32_t queue, uint64_t time);
uint64_t order_known(const struct order *o, uint32_t queue);
/* The earliest of these times: the watermark. */
uint64_t order_watermark(const struct order *o);

#endif
