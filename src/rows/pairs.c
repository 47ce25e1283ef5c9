/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/pairs.h"

#include <stdlib.h>

enum { MAX_CLOSED = 4096 };

void pairs_free(struct pairs *p)
{
	struct open_pair *o, *next;

	HASH_FREE(p->all);
	for (o = p->spare; o; o = next) {
		next = o->hh.next;
		free(o);
	}
	p->spare = NULL;
}

static struct open_pair *find(struct pairs *p, uint64_t key)
{
	struct open_pair *o;

	HASH_FIND(hh, p->all, &key, sizeof(key), o);
	return o;
}

struct open_pair *pairs_find(struct pairs *p, uint64_t key)
{
	struct open_pair *o = find(p, key);

	return o && o->is_open ? o : NULL;
}

static void spare(struct pairs *p, struct open_pair *o)
{
	o->hh.next = p->spare;
	p->spare = o;
}

static struct open_pair *add(struct pairs *p, uint64_t key)
{
	struct open_pair *o = p->spare;

	if (p->nopen >= PAIRS_MAX_OPEN)
		return NULL;
	if (o)
		p->spare = o->hh.next;
	else
		o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->key = key;
	o->is_open = false;
	HASH_ADD(hh, p->all, key, sizeof(o->key), o);
	if (!HASH_LOST(o))
		return o;
	spare(p, o);
	return NULL;
}

static struct open_pair *begin(struct pairs *p, uint64_t key, uint64_t start, uint64_t value)
{
	struct open_pair *o = find(p, key);

	if (!o)
		o = add(p, key);
	if (!o) {
		p->refused++;
		return NULL;
	}
	p->restarted += o->is_open;
	p->nopen += !o->is_open;
	o->is_open = true;
	o->may_have_ended = o->is_device = o->was_seen = false;
	o->start = start;
	o->value = value;
	return o;
}

void pairs_start(struct pairs *p, const struct analysis_sample *s, uint64_t key, uint64_t value)
{
	begin(p, key, s->time, value);
}

struct open_pair *pairs_open(struct pairs *p, uint64_t key, uint64_t since)
{
	struct open_pair *o = pairs_find(p, key);

	return o ? o : begin(p, key, since, 0);
}

void pairs_cancel(struct pairs *p, struct open_pair *o)
{
	o->is_open = false;
	p->nopen--;
	if (HASH_COUNT(p->all) - p->nopen <= MAX_CLOSED)
		return;
	HASH_DEL(p->all, o);
	spare(p, o);
}

void pairs_lose(struct pairs *p, struct open_pair *o)
{
	p->gone++;
	pairs_cancel(p, o);
}

static void end_of(const struct open_pair *o, const struct analysis_sample *s, struct pair_end *end)
{
	*end = (struct pair_end){
		.start = o->start, .value = o->value,
		.duration = s->time > o->start ? s->time - o->start : 0,
	};
}

void pairs_turn(struct open_pair *o, const struct analysis_sample *s, uint64_t value,
		struct pair_end *end)
{
	end_of(o, s, end);
	o->start = s->time;
	o->value = value;
}

void pairs_close(struct pairs *p, struct open_pair *o, const struct analysis_sample *s,
		 struct pair_end *end)
{
	end_of(o, s, end);
	pairs_cancel(p, o);
}

bool pairs_end(struct pairs *p, const struct analysis_sample *s, uint64_t key, struct pair_end *end)
{
	struct open_pair *o = pairs_find(p, key);

	if (o)
		pairs_close(p, o, s, end);
	else
		p->unbegun++;
	return o;
}
