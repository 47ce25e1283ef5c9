/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records that --order holds back: one queue per ring.
 *
 * A queue stores its records one behind another in chunks, in order of time, so that they are read
 * sequentially. A record that is earlier than the one before it in the same ring (on old kernels: a
 * few in a thousand) is a stray. Strays are kept in a heap next to the chunks; the first record of
 * the queue is the earlier of the two heads:
 *
 *	chunks:  | held | held | held | -> | held | ... |     sorted by time
 *	strays:  heap of single records                       earliest first
 *
 * A held record is a copy of one record, or a run (struct order_run): many records in memory that
 * belongs to the caller of order_push_run(). Whoever reads a run moves its beginning forward, and
 * removes the run when it is used up.
 */
#ifndef STREAM_ORDER_HELD_H
#define STREAM_ORDER_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A copied record, or a run. */
struct held {
	uint64_t time;
	uint32_t bytes;                /* this head included, a multiple of 8 */
	uint8_t stray;                 /* 1: has an allocation of its own */
	uint8_t run;                   /* 1: rec is a struct order_run */
	uint16_t tag;                  /* set by the caller */
	char rec[];
};

/* A chunk is released only after its last popped record is no longer in use: held_forget(). */
struct held_chunk {
	struct held_chunk *next;
	uint32_t size, used;           /* bytes of `data` */
	_Alignas(8) char data[];
};

struct stray {
	uint64_t time, number;         /* `number` orders strays of equal times */
	struct held *held;
};

struct held_queue {
	struct held *head;             /* in chunk `first`; NULL: no records in the chunks */
	struct held_chunk *first, *last;
	uint64_t newest;               /* time of the last record in the chunks */
	struct stray *strays;          /* min-heap by time */
	uint32_t nstrays, strays_room;
	uint64_t strays_seen;
};

/* The memory of all queues. */
struct held_store {
	struct held_chunk *free;
	struct held_chunk *done;       /* a chunk that holds only the record popped last */
	struct held_queue *emptied;    /* a queue whose last chunk holds only that record */
	struct held *popped_stray;
	bool borrowed;                 /* one of `done`, `emptied` and `popped_stray` is set */
	size_t bytes;                  /* of all chunks and strays */
	size_t full_bytes;             /* the same, without the chunk that each queue fills */
	size_t max_bytes;
};

/* The slow path of held_push(): a new chunk, or a stray. 0 or -ENOMEM. */
int held_push_slow(struct held_store *store, struct held_queue *q, uint64_t time, const void *rec,
		   uint32_t size, uint16_t tag);
struct held *held_pop_stray(struct held_store *store, struct held_queue *q);
/* Releases the memory of the record popped last. */
void held_forget_slow(struct held_store *store);
void held_clear(struct held_queue *q);
void held_store_clear(struct held_store *store);

static inline uint32_t held_bytes(uint32_t size)
{
	return (uint32_t)sizeof(struct held) + ((size + 7) & ~7u);
}

/* Copies by words, without a call of memcpy(): only records of tests are no multiple of 8 bytes. */
static inline void held_copy(char *to, const char *from, uint32_t size)
{
	for (; size >= 16; size -= 16, to += 16, from += 16)
		memcpy(to, from, 16);
	if (size & 8) {
		memcpy(to, from, 8);
		to += 8;
		from += 8;
	}
	if (size & 7)
		memcpy(to, from, size & 7);
}

static inline void held_append(struct held_queue *q, struct held_chunk *c, uint64_t time,
			       const void *rec, uint32_t size, uint32_t bytes, uint16_t tag)
{
	struct held *h = (struct held *)(c->data + c->used);

	c->used += bytes;
	h->time = time;
	h->bytes = bytes;
	h->stray = h->run = 0;
	h->tag = tag;
	held_copy(h->rec, rec, size);
	q->newest = time;
	if (!q->head) {
		q->head = h;
		q->first = c;
	}
}

static inline int held_push(struct held_store *store, struct held_queue *q, uint64_t time,
			    const void *rec, uint32_t size, uint16_t tag)
{
	struct held_chunk *c = q->last;
	uint32_t bytes = held_bytes(size);

	if (__builtin_expect(!c || c->size - c->used < bytes || (time < q->newest && q->head), 0))
		return held_push_slow(store, q, time, rec, size, tag);
	held_append(q, c, time, rec, size, bytes, tag);
	return 0;
}

/* The record appended last; `size` as it was pushed. */
static inline struct held *held_last(const struct held_queue *q, uint32_t size)
{
	return (struct held *)(q->last->data + q->last->used - held_bytes(size));
}

/* The earliest record, or NULL. */
static inline const struct held *held_first(const struct held_queue *q)
{
	if (__builtin_expect(q->nstrays != 0, 0) &&
	    (!q->head || q->strays[0].time < q->head->time))
		return q->strays[0].held;
	return q->head;
}

static inline void held_forget(struct held_store *store)
{
	if (store->borrowed)
		held_forget_slow(store);
}

/* Removes the first record (the queue must not be empty). It stays valid until held_forget(). */
static inline const struct held *held_pop(struct held_store *store, struct held_queue *q)
{
	const struct held *h = held_first(q);
	struct held_chunk *c = q->first;
	const char *behind;

	if (__builtin_expect(h->stray, 0))
		return held_pop_stray(store, q);
	behind = (const char *)h + h->bytes;
	if (__builtin_expect(behind < c->data + c->used, 1)) {
		q->head = (struct held *)behind;
		/* with many queues the next pop of this one is far away: prefetch the record after next */
		__builtin_prefetch(behind + h->bytes);
		__builtin_prefetch(behind + h->bytes + 64);
	} else if (c->next) {
		q->first = c->next;
		q->head = (struct held *)c->next->data;
		store->done = c;
		store->borrowed = true;
	} else {
		q->head = NULL;
		store->emptied = q;
		store->borrowed = true;
	}
	return h;
}
#endif
