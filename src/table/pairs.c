/* SPDX-License-Identifier: Apache-2.0 */
#include "table/pairs.h"

enum { MAX_CLOSED = 4096 };

void pairs_free(struct pairs *p)
{
	groups_free(&p->all);
}

struct open_pair *pairs_find(const struct pairs *p, uint64_t key)
{
	struct open_pair *o = groups_find(&p->all, &key, sizeof(key));

	return o && o->is_open ? o : NULL;
}

static struct open_pair *begin(struct pairs *p, uint64_t key, uint64_t start, uint64_t value)
{
	struct open_pair *o = groups_find(&p->all, &key, sizeof(key));

	if (o && o->is_open)
		p->restarted++;
	else if (p->nopen >= (p->max ? p->max : PAIRS_MAX_OPEN))
		o = NULL;
	else if (o || (o = groups_add(&p->all, &key, sizeof(key), 0, sizeof(*o))))
		p->nopen++;
	if (o)
		*o = (struct open_pair){ key, start, value, .is_open = true };
	else
		p->refused++;
	return o;
}

void pairs_start(struct pairs *p, uint64_t time, uint64_t key, uint64_t value)
{
	begin(p, key, time, value);
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
	if (p->all.n - p->nopen > MAX_CLOSED)
		groups_drop(&p->all, o);
}

void pairs_lose(struct pairs *p, struct open_pair *o)
{
	p->gone++;
	pairs_cancel(p, o);
}

void pairs_drop(struct pairs *p)
{
	groups_clear(&p->all);
	p->nopen = 0;
}

void pairs_turn(struct open_pair *o, uint64_t time, uint64_t value, struct pair_end *end)
{
	*end = (struct pair_end){ o->start, time > o->start ? time - o->start : 0, o->value };
	o->start = time;
	o->value = value;
}

void pairs_close(struct pairs *p, struct open_pair *o, uint64_t time, struct pair_end *end)
{
	pairs_turn(o, time, o->value, end);
	pairs_cancel(p, o);
}

bool pairs_end(struct pairs *p, uint64_t time, uint64_t key, struct pair_end *end)
{
	struct open_pair *o = pairs_find(p, key);

	if (o)
		pairs_close(p, o, time, end);
	else
		p->unbegun++;
	return o;
}
