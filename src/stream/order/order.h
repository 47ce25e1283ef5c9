/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of many rings in order of time.
 *
 * Each ring has a queue of copied records. A record may be delivered when no ring can bring an
 * earlier one any more. The time up to which that holds is the watermark (live/barrier.h explains
 * how it is found). The merge takes the queue with the earliest head. It finds it with a tournament
 * tree: each node holds the earlier of its two children, so a new head costs one comparison per
 * level, and none of them is a branch that the CPU must predict.
 *
 * Invariants:
 *   - Each queue is sorted by time. A record that is earlier than the one before it in its ring
 *     (kernels up to 5.10 write a few) is inserted where it belongs.
 *   - The root of the tree is the earliest head; of equal times, the head of the lowest queue. So
 *     equal times always come in the same order.
 *   - Times of popped records never decrease, except for records that were pushed with a time
 *     before one already delivered. These are counted as late.
 *   - If the earliest head is a run, all its records before the heads of the other queues are due
 *     at once; until they are passed, the tree does not change.
 *   - Each chunk in use holds records or is the one that its queue fills. So memory is bounded by
 *     max_bytes + one chunk per queue + what was pushed while order_full() was true.
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
	const void *rec;       /* 8-byte aligned: a copy, valid until the first pop after order_is_borrowed()
			        * is true; for a run, in the caller's memory */
	uint32_t queue;
	uint16_t tag;          /* from order_push_tagged(); 0 after order_push() */
};

/* Consecutive records in the caller's memory, sorted by time. They are not copied. */
struct order_run {
	const char *at, *end;
	void *memory;          /* opaque; order_pass() returns it */
	uint64_t first, last;  /* times of the first and the last record */
	uint8_t time_at;       /* offset of the time in each record, a multiple of 8 */
};

/* What is due next: one record, or the first records of a run. */
struct order_due {
	struct order_item item;        /* for a run: its first record */
	const char *end;               /* NULL: one record, no run */
	uint64_t until;                /* records of the run are due up to this time (inclusive) */
	uint8_t time_at;
};

/* max_bytes bounds the copies in all queues together, without the chunk (up to 64 KiB) that each
 * queue fills. NULL without memory. */
struct order *order_new(uint32_t nqueues, size_t max_bytes);
void order_free(struct order *o);
/* Copies a record into a queue. 0, -ENOMEM, or -E2BIG if it is larger than 64 KiB. */
int order_push(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size);
/* The same with a tag. (Writing the tag into the record before the copy would be slower: a copy
 * that reads in one piece what was just written in another stalls on store forwarding.) */
int order_push_tagged(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size,
		      uint16_t tag);
/* Pushes a run. No record of it may be earlier than what was pushed to the queue before:
 * order_takes_run() says whether a run that begins at `first` qualifies. The same memory can be
 * pushed several times. 0 or -ENOMEM. */
int order_push_run(struct order *o, uint32_t queue, const struct order_run *run, uint16_t tag);
bool order_takes_run(const struct order *o, uint32_t queue, uint64_t first);
/* max_bytes is reached: push only what lets the watermark advance. */
bool order_full(const struct order *o);
bool order_empty(const struct order *o);
/* Removes the earliest record if its time is <= watermark; false if there is none. */
bool order_pop(struct order *o, uint64_t watermark, struct order_item *item);
/* The next pop will use the memory of some record again. */
bool order_is_borrowed(const struct order *o);
/* The same with runs: a single record is removed, a run stays. After reading records of a run, pass
 * them with order_pass(): `at` is the first record that was not read, or the end of the run; `time`
 * is the time of the last one that was read. order_pass() returns the run's `memory` when the end
 * was reached, else NULL. */
bool order_due(struct order *o, uint64_t watermark, struct order_due *due);
void *order_pass(struct order *o, const struct order_due *due, const char *at, uint64_t time);
/* Bytes of copies that order_full() compares with max_bytes. */
size_t order_bytes(const struct order *o);
/* Records pushed with a time before one already delivered. */
uint64_t order_late(const struct order *o);

/* Declares that all records of the queue's ring up to that time were pushed. Earlier times are ignored. */
void order_set_known(struct order *o, uint32_t queue, uint64_t time);
uint64_t order_known(const struct order *o, uint32_t queue);
/* The minimum of these times over all queues. */
uint64_t order_watermark(const struct order *o);

#endif
