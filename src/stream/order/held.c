/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/order/held.h"

#include "base/room.h"
#include "stream/order/order.h"

#include <errno.h>
#include <stdlib.h>

enum {
	SMALL_CHUNK = 8 << 10,
	LARGE_CHUNK = sizeof(struct held) + ORDER_MAX_RECORD,
};

/* ---- chunks --------------------------------------------------------------- */

static void free_one(struct held_store *store)
{
	struct held_chunk *c = store->free;

	store->free = c->next;
	store->bytes -= c->size;
	free(c);
}

static struct held_chunk *make_chunk(struct held_store *store, uint32_t size)
{
	struct held_chunk *c;

	/* free chunks count towards max_bytes, too */
	while (store->free && store->bytes + size > store->max_bytes)
		free_one(store);
	c = malloc(sizeof(*c) + size);
	if (c)
		store->bytes += size;
	return c;
}

static struct held_chunk *new_chunk(struct held_store *store, uint32_t bytes)
{
	uint32_t size = bytes <= SMALL_CHUNK ? SMALL_CHUNK : LARGE_CHUNK;
	struct held_chunk *c = store->free;

	if (c && size == SMALL_CHUNK)
		store->free = c->next;
	else
		c = make_chunk(store, size);
	if (c)
		*c = (struct held_chunk){ .size = size };
	return c;
}

/* Takes a chunk that no queue uses. */
static void release_chunk(struct held_store *store, struct held_chunk *c)
{
	c->next = store->free;
	store->free = c;
	if (c->size != SMALL_CHUNK)
		free_one(store);   /* large chunks are rare: not worth keeping */
}

/* Appends a chunk to the queue. */
static void follow(struct held_store *store, struct held_queue *q, struct held_chunk *c)
{
	struct held_chunk *old = q->last;

	q->last = c;
	if (!old)
		return;
	if (q->head) {
		old->next = c;
		store->full_bytes += old->size;
	} else if (store->emptied == q) {
		store->emptied = NULL;   /* the record popped last is still in use */
		store->full_bytes += old->size;
		store->done = old;
	} else {
		release_chunk(store, old);
	}
}

/* ---- strays --------------------------------------------------------------- */

static bool comes_before(const struct stray *a, const struct stray *b)
{
	return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void sift_up(struct held_queue *q, struct stray s)
{
	uint32_t i = q->nstrays++;

	for (; i && comes_before(&s, &q->strays[(i - 1) / 2]); i = (i - 1) / 2)
		q->strays[i] = q->strays[(i - 1) / 2];
	q->strays[i] = s;
}

static void sift_down(struct held_queue *q)
{
	struct stray last = q->strays[--q->nstrays];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < q->nstrays) {
		if (child + 1 < q->nstrays &&
		    comes_before(&q->strays[child + 1], &q->strays[child]))
			child++;
		if (!comes_before(&q->strays[child], &last))
			break;
		q->strays[i] = q->strays[child];
		i = child;
	}
	q->strays[i] = last;
}

static int push_stray(struct held_store *store, struct held_queue *q, uint64_t time,
		      const void *rec, uint32_t size, uint16_t tag)
{
	uint32_t bytes = held_bytes(size);
	struct held *h = ROOM_FOR(q->strays, q->strays_room, q->nstrays, 1) ? malloc(bytes) : NULL;

	if (!h)
		return -ENOMEM;
	h->time = time;
	h->bytes = bytes;
	h->stray = 1;
	h->run = 0;
	h->tag = tag;
	memcpy(h->rec, rec, size);
	store->bytes += bytes;
	store->full_bytes += bytes;
	sift_up(q, (struct stray){ time, q->strays_seen++, h });
	return 0;
}

struct held *held_pop_stray(struct held_store *store, struct held_queue *q)
{
	struct held *h = q->strays[0].held;

	sift_down(q);
	store->popped_stray = h;
	store->borrowed = true;
	return h;
}

/* ---- push and forget ------------------------------------------------------ */

int held_push_slow(struct held_store *store, struct held_queue *q, uint64_t time, const void *rec,
		   uint32_t size, uint16_t tag)
{
	uint32_t bytes = held_bytes(size);
	struct held_chunk *c;

	if (q->head && time < q->newest)
		return push_stray(store, q, time, rec, size, tag);
	c = new_chunk(store, bytes);
	if (!c)
		return -ENOMEM;
	follow(store, q, c);
	held_append(q, c, time, rec, size, bytes, tag);
	return 0;
}

void held_forget_slow(struct held_store *store)
{
	struct held *stray = store->popped_stray;

	if (stray) {
		store->bytes -= stray->bytes;
		store->full_bytes -= stray->bytes;
		free(stray);
	}
	if (store->done) {
		store->full_bytes -= store->done->size;
		release_chunk(store, store->done);
	}
	/* rewind: a queue that keeps up stays within a few cache lines */
	if (store->emptied && !store->emptied->head)
		store->emptied->last->used = 0;
	store->popped_stray = NULL;
	store->done = NULL;
	store->emptied = NULL;
	store->borrowed = false;
}

void held_clear(struct held_queue *q)
{
	struct held_chunk *c = q->head ? q->first : q->last;

	while (c) {
		struct held_chunk *next = c->next;

		free(c);
		c = next;
	}
	for (uint32_t i = 0; i < q->nstrays; i++)
		free(q->strays[i].held);
	free(q->strays);
	*q = (struct held_queue){0};
}

void held_store_clear(struct held_store *store)
{
	held_forget(store);
	while (store->free)
		free_one(store);
}
