/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/order/order.h"

#include "stream/order/held.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

enum { NO_QUEUE = -1 };

struct queue {
	struct held_queue held;
	uint64_t known;
};

/* A queue and the time of its head. An empty queue is { UINT64_MAX, NO_QUEUE }. */
struct first {
	uint64_t time;
	uint32_t queue;
};

struct order {
	struct queue *queues;
	uint32_t nqueues;
	struct first *tree;            /* [1] is the root, [leaves + q] is queue q */
	uint32_t leaves;               /* nqueues, rounded up to a power of two */
	struct held_store store;
	uint64_t last, late;
};

/* ---- creating and freeing ------------------------------------------------- */

struct order *order_new(uint32_t nqueues, size_t max_bytes)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	for (o->leaves = 1; o->leaves < nqueues;)
		o->leaves *= 2;
	o->nqueues = nqueues;
	o->store.max_bytes = max_bytes;
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

void order_free(struct order *o)
{
	if (!o)
		return;
	held_store_clear(&o->store);
	for (uint32_t i = 0; o->queues && i < o->nqueues; i++)
		held_clear(&o->queues[i].held);
	free(o->queues);
	free(o->tree);
	free(o);
}

/* ---- the tournament of queues ------------------------------------------------ */

/* Of equal times, the one of the lower queue. Compared as one 128-bit number, because compilers
 * then emit no branch, which would be mispredicted every other time. */
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

/* Updates the tree after the head of a queue changed. */
static inline void replay(struct order *o, uint32_t queue)
{
	const struct held *head = held_first(&o->queues[queue].held);
	struct first winner = { UINT64_MAX, (uint32_t)NO_QUEUE };
	uint32_t at = o->leaves + queue;

	if (head)
		winner = (struct first){ head->time, queue };
	for (o->tree[at] = winner; at > 1; at /= 2) {
		winner = earlier(winner, o->tree[at ^ 1]);
		o->tree[at / 2] = winner;
	}
}

/* ---- push and pop --------------------------------------------------------------- */

int order_push_tagged(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size,
		      uint16_t tag)
{
	struct held_queue *q = &o->queues[queue].held;
	bool was_empty = !q->head;
	uint32_t strays = q->nstrays;
	int rc;

	if (size > ORDER_MAX_RECORD)
		return -E2BIG;
	rc = held_push(&o->store, q, time, rec, size, tag);
	if (rc)
		return rc;
	o->late += time < o->last;
	if (was_empty || q->nstrays != strays)
		replay(o, queue);
	return 0;
}

int order_push(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size)
{
	return order_push_tagged(o, queue, time, rec, size, 0);
}

bool order_pop(struct order *o, uint64_t watermark, struct order_item *item)
{
	struct first first = o->tree[1];
	const struct held *held;

	held_forget(&o->store);
	if (first.queue == (uint32_t)NO_QUEUE || first.time > watermark)
		return false;
	held = held_pop(&o->store, &o->queues[first.queue].held);
	*item = (struct order_item){ held->time, held->rec, first.queue, held->tag };
	if (held->time > o->last)
		o->last = held->time;
	replay(o, first.queue);
	return true;
}

bool order_is_borrowed(const struct order *o)
{
	return o->store.borrowed;
}

/* ---- runs ------------------------------------------------------------------- */

static struct order_run *run_of(const struct held *h)
{
	return (struct order_run *)(void *)(uintptr_t)h->rec;
}

static uint64_t time_in(const char *rec, uint8_t time_at)
{
	uint64_t t;

	memcpy(&t, rec + time_at, sizeof(t));
	return t;
}

static uint16_t size_in(const char *rec)
{
	return ((const struct perf_event_header *)(const void *)rec)->size;
}

static uint64_t count_late(const struct order_run *run, uint64_t last)
{
	uint64_t n = 0;

	for (const char *at = run->at; at < run->end && time_in(at, run->time_at) < last; n++)
		at += size_in(at);
	return n;
}

bool order_takes_run(const struct order *o, uint32_t queue, uint64_t first)
{
	const struct held_queue *q = &o->queues[queue].held;

	return !q->head || first >= q->newest;
}

int order_push_run(struct order *o, uint32_t queue, const struct order_run *run, uint16_t tag)
{
	struct held_queue *q = &o->queues[queue].held;
	struct held *h;
	int rc = held_push(&o->store, q, run->first, run, sizeof(*run), tag);

	if (rc)
		return rc;
	h = held_last(q, sizeof(*run));
	h->run = 1;
	q->newest = run->last;
	if (run->first < o->last)
		o->late += count_late(run, o->last);
	if (h == q->head)
		replay(o, queue);
	return 0;
}

/* The last time (at most `until`) up to which records of this queue come before all other heads. */
static uint64_t last_before_others(const struct order *o, uint32_t queue, uint64_t until)
{
	const struct held_queue *q = &o->queues[queue].held;

	for (uint32_t at = o->leaves + queue; at > 1; at /= 2) {
		const struct first *other = &o->tree[at ^ 1];
		/* of equal times the lower queue comes first: if that is the other one, stop before
		 * its time */
		uint64_t t = other->time - (other->queue < queue);

		if (t < until)
			until = t;
	}
	return q->nstrays && q->strays[0].time < until ? q->strays[0].time : until;
}

bool order_due(struct order *o, uint64_t watermark, struct order_due *due)
{
	struct first first = o->tree[1];
	const struct held *h = first.queue == (uint32_t)NO_QUEUE ? NULL
								 : held_first(&o->queues[first.queue].held);
	const struct order_run *run;

	due->end = NULL;
	if (!h || !h->run || first.time > watermark)
		return order_pop(o, watermark, &due->item);
	held_forget(&o->store);
	run = run_of(h);
	due->item = (struct order_item){ h->time, run->at, first.queue, h->tag };
	due->end = run->end;
	due->until = last_before_others(o, first.queue, watermark);
	due->time_at = run->time_at;
	return true;
}

void *order_pass(struct order *o, const struct order_due *due, const char *at, uint64_t time)
{
	struct held_queue *q = &o->queues[due->item.queue].held;
	void *memory = NULL;

	if (time > o->last)
		o->last = time;
	if (at == due->end) {
		memory = run_of(q->head)->memory;
		held_pop(&o->store, q);
	} else {
		run_of(q->head)->at = at;
		q->head->time = time_in(at, due->time_at);
	}
	replay(o, due->item.queue);
	return memory;
}

/* ---- known times and totals --------------------------------------------------- */

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
	return o->store.full_bytes >= o->store.max_bytes;
}

size_t order_bytes(const struct order *o)
{
	return o->store.full_bytes;
}

bool order_empty(const struct order *o)
{
	return o->tree[1].queue == (uint32_t)NO_QUEUE;
}

uint64_t order_late(const struct order *o)
{
	return o->late;
}
