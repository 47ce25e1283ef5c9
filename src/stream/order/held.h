/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records that --order holds back, as one queue per ring.
 *
 * A queue lays its records one behind another into chunks, in the order of their times;
 * whoever reads them goes through memory as it lies. What comes inverted within its ring
 * (old kernels: a few in a thousand) is a stray: strays lie in a heap beside, and the
 * queue's first record is the earlier of the two.
 *
 * In place of one record's copy there may be a run: where many lie, in memory of the pusher's.
 * Whoever looks at its records moves its beginning, and takes it out when it is used up.
 */
#ifndef STREAM_ORDER_HELD_H
#define STREAM_ORDER_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A held record. */
struct held {
	uint64_t time;
	uint32_t bytes;                /* with this head, a multiple of 8 */
	uint8_t stray;                 /* 1: lies in memory of its own */
	uint8_t run;                   /* 1: rec is a struct order_run */
	uint16_t tag;                  /* the pusher's */
	char rec[];
};

/* Whoever pops last may still look at the record: what held it is given back later. */
struct held_chunk {
	struct held_chunk *next;
	uint32_t size, used;           /* bytes of data */
	_Alignas(8) char data[];
};

struct stray {
	uint64_t time, number;         /* equal times come in the order of their numbers */
	struct held *held;
};

struct held_queue {
	struct held *head;             /* in chunk `first`; NULL: the chunks hold nothing */
	struct held_chunk *first, *last;
	uint64_t newest;               /* time of the last one in the chunks */
	struct stray *strays;          /* a heap, the earliest first */
	uint32_t nstrays, strays_room;
	uint64_t strays_seen;
};

/* The memory of all queues. */
struct held_store {
	struct held_chunk *free;
	struct held_chunk *done;       /* holds nothing but what was popped last */
	struct held_queue *emptied;    /* its last chunk holds nothing but that */
	struct held *popped_stray;
	bool borrowed;                 /* one of these three is set */
	size_t bytes;                  /* of all chunks and strays */
	size_t full_bytes;             /* of those that are not being filled */
	size_t max_bytes;
};

/* What does not go the usual way: a new chunk or a stray. 0 or -ENOMEM. */
int held_push_slow(struct held_store *store, struct held_queue *q, uint64_t time, const void *rec,
		   uint32_t size, uint16_t tag);
struct held *held_pop_stray(struct held_store *store, struct held_queue *q);
/* The end of a record's being looked at. */
void held_forget_slow(struct held_store *store);
void held_clear(struct held_queue *q);
void held_store_clear(struct held_store *store);

static inline uint32_t held_bytes(uint32_t size)
{
	return (uint32_t)sizeof(struct held) + ((size + 7) & ~7u);
}

/* Records are multiples of 8 bytes but for a test's: words, without a call. */
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

/* What was appended last, of that size. */
static inline struct held *held_last(const struct held_queue *q, uint32_t size)
{
	return (struct held *)(q->last->data + q->last->used - held_bytes(size));
}

/* The first record, or NULL. */
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

/* Takes the first record out; there is one. It can be looked at until held_forget(). */
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
		/* with many queues it is long until the next pop: the one behind is on its way */
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
