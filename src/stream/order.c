/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 128 << 10, FIRST_ENTRIES = 256, NO_PLACE = -1 };

/* Copies lie in chunks, freed (to a list) when all their records were popped. */
struct chunk {
	struct chunk *next;
	uint32_t used, live;           /* bytes; records not popped */
	bool filling;                  /* a queue still writes to it */
	_Alignas(16) char data[CHUNK_BYTES];
};

struct entry {
	uint64_t time;
	const void *rec;
	struct chunk *chunk;
};

/* A sorted circular buffer of entries. */
struct queue {
	struct entry *entries;
	uint32_t mask, head, count;
	struct chunk *chunk;           /* the one being filled */
	int32_t place;                 /* in the heap, or NO_PLACE */
};

struct order {
	struct queue *queues;
	uint32_t nqueues;
	uint32_t *heap;                /* queue numbers */
	uint32_t nheap;
	struct chunk *free_chunks;
	struct chunk *popped;          /* chunk of the record that was popped last */
	size_t bytes, max_bytes;       /* of chunks in use */
	uint64_t last, late;
};

/* ---- life ----------------------------------------------------------------- */

struct order *order_new(uint32_t nqueues, size_t max_bytes)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->queues = calloc(nqueues, sizeof(*o->queues));
	o->heap = calloc(nqueues, sizeof(*o->heap));
	o->nqueues = nqueues;
	o->max_bytes = max_bytes;
	if (!o->queues || !o->heap) {
		order_free(o);
		return NULL;
	}
	for (uint32_t i = 0; i < nqueues; i++)
		o->queues[i].place = NO_PLACE;
	return o;
}

static void free_queue(struct queue *q)
{
	for (uint32_t i = 0; i < q->count; i++) {
		struct chunk *c = q->entries[(q->head + i) & q->mask].chunk;

		if (--c->live == 0 && !c->filling)
			free(c);
	}
	free(q->chunk);
	free(q->entries);
}

void order_free(struct order *o)
{
	if (!o)
		return;
	if (o->popped && --o->popped->live == 0 && !o->popped->filling)
		free(o->popped);
	for (uint32_t i = 0; o->queues && i < o->nqueues; i++)
		free_queue(&o->queues[i]);
	while (o->free_chunks) {
		struct chunk *c = o->free_chunks;

		o->free_chunks = c->next;
		free(c);
	}
	free(o->queues);
	free(o->heap);
	free(o);
}

/* ---- the heap of queues ----------------------------------------------------- */

static inline uint64_t head_time(const struct order *o, uint32_t queue)
{
	const struct queue *q = &o->queues[queue];

	return q->entries[q->head].time;
}

static inline bool before(const struct order *o, uint32_t a, uint32_t b)
{
	uint64_t ta = head_time(o, a), tb = head_time(o, b);

	return ta < tb || (ta == tb && a < b);
}

static void sift_up(struct order *o, uint32_t at)
{
	uint32_t queue = o->heap[at];

	while (at) {
		uint32_t parent = (at - 1) / 2;

		if (!before(o, queue, o->heap[parent]))
			break;
		o->heap[at] = o->heap[parent];
		o->queues[o->heap[at]].place = (int32_t)at;
		at = parent;
	}
	o->heap[at] = queue;
	o->queues[queue].place = (int32_t)at;
}

static void sift_down(struct order *o, uint32_t at)
{
	uint32_t queue = o->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= o->nheap)
			break;
		if (child + 1 < o->nheap && before(o, o->heap[child + 1], o->heap[child]))
			child++;
		if (!before(o, o->heap[child], queue))
			break;
		o->heap[at] = o->heap[child];
		o->queues[o->heap[at]].place = (int32_t)at;
		at = child;
	}
	o->heap[at] = queue;
	o->queues[queue].place = (int32_t)at;
}

static void heap_add(struct order *o, uint32_t queue)
{
	o->heap[o->nheap] = queue;
	sift_up(o, o->nheap++);
}

static void heap_remove_top(struct order *o)
{
	o->queues[o->heap[0]].place = NO_PLACE;
	o->heap[0] = o->heap[--o->nheap];
	if (o->nheap)
		sift_down(o, 0);
}

/* ---- push --------------------------------------------------------------------- */

static struct chunk *new_chunk(struct order *o)
{
	struct chunk *c = o->free_chunks;

	if (c)
		o->free_chunks = c->next;
	else
		c = malloc(sizeof(*c));
	if (!c)
		return NULL;
	c->used = c->live = 0;
	c->filling = true;
	o->bytes += CHUNK_BYTES;
	return c;
}

static void retire_chunk(struct order *o, struct chunk *c)
{
	c->next = o->free_chunks;
	o->free_chunks = c;
	o->bytes -= CHUNK_BYTES;
}

static char *reserve(struct order *o, struct queue *q, uint32_t size)
{
	struct chunk *c = q->chunk;
	char *p;

	if (!c || CHUNK_BYTES - c->used < size) {
		if (c && !c->live) {
			c->used = 0;   /* all popped: it serves again */
		} else {
			if (c)
				c->filling = false;
			c = new_chunk(o);
		}
		q->chunk = c;
		if (!c)
			return NULL;
	}
	p = c->data + c->used;
	c->used += size;
	c->live++;
	return p;
}

static int grow(struct queue *q)
{
	uint32_t size = q->entries ? (q->mask + 1) * 2 : FIRST_ENTRIES;
	struct entry *e = malloc(size * sizeof(*e));

	if (!e)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->count; i++)
		e[i] = q->entries[(q->head + i) & q->mask];
	free(q->entries);
	q->entries = e;
	q->mask = size - 1;
	q->head = 0;
	return 0;
}

/* Where an entry of that time belongs, counted from the head; later ones are moved. */
static uint32_t make_room(struct queue *q, uint64_t time)
{
	uint32_t i = q->count;

	for (; i && q->entries[(q->head + i - 1) & q->mask].time > time; i--)
		q->entries[(q->head + i) & q->mask] = q->entries[(q->head + i - 1) & q->mask];
	return i;
}

int order_push(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size)
{
	struct queue *q = &o->queues[queue];
	uint32_t at;
	char *copy;

	if ((!q->entries || q->count > q->mask) && grow(q))
		return -ENOMEM;
	copy = reserve(o, q, size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, rec, size);
	at = make_room(q, time);
	q->entries[(q->head + at) & q->mask] = (struct entry){ time, copy, q->chunk };
	q->count++;
	o->late += time < o->last;
	if (q->place == NO_PLACE)
		heap_add(o, queue);
	else if (at == 0)
		sift_up(o, (uint32_t)q->place);
	return 0;
}

/* ---- pop ---------------------------------------------------------------------- */

static void forget_popped(struct order *o)
{
	struct chunk *c = o->popped;

	o->popped = NULL;
	if (c && --c->live == 0 && !c->filling)
		retire_chunk(o, c);
}

bool order_pop(struct order *o, uint64_t watermark, struct order_item *item)
{
	struct entry *e;
	struct queue *q;

	forget_popped(o);
	if (!o->nheap || head_time(o, o->heap[0]) > watermark)
		return false;
	q = &o->queues[o->heap[0]];
	e = &q->entries[q->head];
	*item = (struct order_item){ e->time, e->rec, o->heap[0] };
	o->popped = e->chunk;
	if (e->time > o->last)
		o->last = e->time;
	q->head = (q->head + 1) & q->mask;
	if (--q->count)
		sift_down(o, 0);
	else
		heap_remove_top(o);
	return true;
}

bool order_full(const struct order *o)
{
	return o->bytes >= o->max_bytes;
}

bool order_empty(const struct order *o)
{
	return o->nheap == 0;
}

uint64_t order_late(const struct order *o)
{
	return o->late;
}
