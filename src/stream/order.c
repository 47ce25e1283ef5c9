/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NO_QUEUE = -1 };

/* A held record, in its queue's list. */
struct node {
	uint64_t time;
	struct node *next, *prev;
	struct chunk *chunk;
	_Alignas(8) char rec[];
};

enum {
	SMALL_CHUNK = 4 << 10,
	LARGE_CHUNK = sizeof(struct node) + ORDER_MAX_RECORD,
};

/*
 * Nodes lie in chunks; what a small one can't hold gets a large one, which holds any. The
 * chunk that its queue still fills begins anew when all its records were popped, so that
 * a queue which keeps up stays within a few lines of the cache; a small one that was left
 * full is free for any queue when they were.
 */
struct chunk {
	struct chunk *next;
	uint32_t size, used;           /* bytes of data */
	uint32_t live;                 /* records not popped */
	bool filling;                  /* its queue still writes to it */
	_Alignas(8) char data[];
};

struct queue {
	struct node *head, *tail;      /* sorted by time */
	struct chunk *chunk;           /* the one being filled */
	uint64_t known;
};

/* A queue and the time of its head; an empty queue is NO_QUEUE at the end of time. */
struct first {
	uint64_t time;
	uint32_t queue;
};

struct order {
	struct queue *queues;
	uint32_t nqueues;
	struct first *tree;            /* [1] is the earliest, [leaves + q] is queue q */
	uint32_t leaves;               /* nqueues, rounded up to a power of two */
	struct chunk *free_small;
	struct chunk *popped;          /* chunk of the record that was popped last */
	size_t bytes;                  /* of all chunks */
	size_t full_bytes;             /* of those left full, with records not popped */
	size_t max_bytes;
	uint64_t last, late;
};

/* ---- life ----------------------------------------------------------------- */

struct order *order_new(uint32_t nqueues, size_t max_bytes)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	for (o->leaves = 1; o->leaves < nqueues;)
		o->leaves *= 2;
	o->nqueues = nqueues;
	o->max_bytes = max_bytes;
	o->queues = calloc(nqueues ? nqueues : 1, sizeof(*o->queues));
	o->tree = calloc(2 * (size_t)o->leaves, sizeof(*o->tree));
	if (!o->queues || !o->tree) {
		order_free(o);
		return NULL;
	}
	for (size_t i = 0; i < 2 * (size_t)o->leaves; i++)
		o->tree[i] = (struct first){ UINT64_MAX, (uint32_t)NO_QUEUE };
	return o;
}

/* A full chunk is freed with its last record. */
static void free_queue(struct queue *q)
{
	for (struct node *n = q->head, *next; n; n = next) {
		struct chunk *c = n->chunk;

		next = n->next;
		if (--c->live == 0 && !c->filling)
			free(c);
	}
	free(q->chunk);
}

static void free_one(struct order *o)
{
	struct chunk *c = o->free_small;

	o->free_small = c->next;
	o->bytes -= c->size;
	free(c);
}

void order_free(struct order *o)
{
	if (!o)
		return;
	if (o->popped && --o->popped->live == 0 && !o->popped->filling)
		free(o->popped);
	for (uint32_t i = 0; o->queues && i < o->nqueues; i++)
		free_queue(&o->queues[i]);
	while (o->free_small)
		free_one(o);
	free(o->queues);
	free(o->tree);
	free(o);
}

/* ---- the tournament of queues ------------------------------------------------ */

/* Of equal times the lower queue's. As one number, for which compilers write no jump: it
 * would be guessed wrong every other time. */
static inline struct first earlier(struct first a, struct first b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 x = (unsigned __int128)a.time << 64 | a.queue;
	unsigned __int128 y = (unsigned __int128)b.time << 64 | b.queue;

	x = y < x ? y : x;
	return (struct first){ (uint64_t)(x >> 64), (uint32_t)x };
#else
	return b.time < a.time || (b.time == a.time && b.queue < a.queue) ? b : a;
#endif
}

/* The head of a queue is another one: its matches are played again, up to the root. */
static inline void replay(struct order *o, uint32_t queue)
{
	const struct node *head = o->queues[queue].head;
	struct first winner = { UINT64_MAX, (uint32_t)NO_QUEUE };
	uint32_t at = o->leaves + queue;

	if (head)
		winner = (struct first){ head->time, queue };
	for (o->tree[at] = winner; at > 1; at /= 2) {
		winner = earlier(winner, o->tree[at ^ 1]);
		o->tree[at / 2] = winner;
	}
}

/* ---- push --------------------------------------------------------------------- */

static struct chunk *reuse_chunk(struct order *o)
{
	struct chunk *c = o->free_small;

	o->free_small = c->next;
	return c;
}

static struct chunk *make_chunk(struct order *o, uint32_t size)
{
	struct chunk *c;

	/* free ones make room: the bound holds for all there are */
	while (o->free_small && o->bytes + size > o->max_bytes)
		free_one(o);
	c = malloc(sizeof(*c) + size);
	if (c)
		o->bytes += size;
	return c;
}

static struct chunk *new_chunk(struct order *o, uint32_t size)
{
	bool free_one_fits = o->free_small && size == SMALL_CHUNK;
	struct chunk *c = free_one_fits ? reuse_chunk(o) : make_chunk(o, size);

	if (c)
		*c = (struct chunk){ .size = size, .filling = true };
	return c;
}

/* All records of a chunk were popped. */
static void renew_chunk(struct order *o, struct chunk *c)
{
	c->used = 0;
	if (c->filling)
		return;
	o->full_bytes -= c->size;
	c->next = o->free_small;
	o->free_small = c;
	if (c->size != SMALL_CHUNK)
		free_one(o);   /* rare: not worth keeping */
}

/* Its queue begins another chunk. */
static void leave_chunk(struct order *o, struct chunk *c)
{
	c->filling = false;
	o->full_bytes += c->size;
	if (!c->live)
		renew_chunk(o, c);   /* empty, but too small for what comes */
}

static struct node *new_node(struct order *o, struct queue *q, uint32_t size)
{
	uint32_t bytes = (uint32_t)sizeof(struct node) + ((size + 7) & ~7u);
	struct chunk *c = q->chunk;
	struct node *n;

	if (!c || c->size - c->used < bytes) {
		if (c)
			leave_chunk(o, c);
		c = q->chunk = new_chunk(o, bytes <= SMALL_CHUNK ? SMALL_CHUNK : LARGE_CHUNK);
		if (!c)
			return NULL;
	}
	n = (struct node *)(c->data + c->used);
	c->used += bytes;
	c->live++;
	n->chunk = c;
	return n;
}

/* Behind the last one that is not later: records come inverted by a few at most. */
static void insert(struct queue *q, struct node *n)
{
	struct node *before = q->tail;

	while (before && before->time > n->time)
		before = before->prev;
	n->prev = before;
	n->next = before ? before->next : q->head;
	*(before ? &before->next : &q->head) = n;
	*(n->next ? &n->next->prev : &q->tail) = n;
}

int order_push(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size)
{
	struct queue *q = &o->queues[queue];
	struct node *n;

	if (size > ORDER_MAX_RECORD)
		return -E2BIG;
	n = new_node(o, q, size);
	if (!n)
		return -ENOMEM;
	memcpy(n->rec, rec, size);
	n->time = time;
	insert(q, n);
	o->late += time < o->last;
	if (q->head == n)
		replay(o, queue);
	return 0;
}

/* ---- pop ---------------------------------------------------------------------- */

static void forget_popped(struct order *o)
{
	struct chunk *c = o->popped;

	o->popped = NULL;
	if (c && --c->live == 0)
		renew_chunk(o, c);
}

bool order_pop(struct order *o, uint64_t watermark, struct order_item *item)
{
	struct first first = o->tree[1];
	struct queue *q;
	struct node *n;

	forget_popped(o);
	if (first.queue == (uint32_t)NO_QUEUE || first.time > watermark)
		return false;
	q = &o->queues[first.queue];
	n = q->head;
	*item = (struct order_item){ n->time, n->rec, first.queue };
	o->popped = n->chunk;
	if (n->time > o->last)
		o->last = n->time;
	q->head = n->next;
	*(q->head ? &q->head->prev : &q->tail) = NULL;
	if (q->head)
		__builtin_prefetch(q->head->next);   /* its time is needed at the next pop */
	replay(o, first.queue);
	return true;
}

/* ---- state -------------------------------------------------------------------- */

void order_set_known(struct order *o, uint32_t queue, uint64_t time)
{
	if (time > o->queues[queue].known)
		o->queues[queue].known = time;
}

uint64_t order_known(const struct order *o, uint32_t queue)
{
	return o->queues[queue].known;
}

uint64_t order_watermark(const struct order *o)
{
	uint64_t t = UINT64_MAX;

	for (uint32_t i = 0; i < o->nqueues; i++)
		if (o->queues[i].known < t)
			t = o->queues[i].known;
	return t;
}

bool order_full(const struct order *o)
{
	return o->full_bytes >= o->max_bytes;
}

bool order_empty(const struct order *o)
{
	return o->tree[1].queue == (uint32_t)NO_QUEUE;
}

uint64_t order_late(const struct order *o)
{
	return o->late;
}
