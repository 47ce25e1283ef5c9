/* SPDX-License-Identifier: Apache-2.0 */
#include "sums/pairing.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 128 };
enum { BEGIN, END };

int pairing_begin(struct pairing *p)
{
	p->mask = FIRST_ROOM - 1;
	p->v = calloc(FIRST_ROOM, sizeof(*p->v));
	for (int i = 0; i < 2; i++)
		p->vectors[i] = calloc(1, sizeof(*p->vectors[i]));
	return p->v && p->vectors[BEGIN] && p->vectors[END] ? 0 : -ENOMEM;
}

void pairing_free(struct pairing *p)
{
	if (!p)
		return;
	for (int i = 0; i < 2; i++) {
		free(p->names[i]);
		operand_free(&p->keys[i]);
		free(p->vectors[i]);
	}
	texts_release(p->events);
	free(p->text);
	free(p->v);
	free(p);
}

/* ---- the table ---------------------------------------------------------------------- */

static size_t home(const struct pairing *p, uint64_t key)
{
	return hash_number(key) & p->mask;
}

/* Where the key is, or the free place for it. */
static size_t find(const struct pairing *p, uint64_t key)
{
	size_t at = home(p, key);

	while (p->v[at].used && p->v[at].key != key)
		at = (at + 1) & p->mask;
	return at;
}

static int grow(struct pairing *p)
{
	struct begun *old = p->v, *v = calloc(2 * (p->mask + 1), sizeof(*v));
	size_t n = p->mask + 1;

	if (!v)
		return -ENOMEM;
	p->v = v;
	p->mask = 2 * n - 1;
	for (size_t i = 0; i < n; i++)
		if (old[i].used)
			v[find(p, old[i].key)] = old[i];
	free(old);
	return 0;
}

static void begin(struct pairing *p, uint64_t key, uint64_t time)
{
	size_t at = find(p, key);

	if (!p->v[at].used) {
		if (p->n >= p->max || (2 * p->n > p->mask && grow(p))) {
			p->refused++;
			return;
		}
		at = find(p, key);
		p->n++;
	}
	p->v[at] = (struct begun){ key, time, true };
}

/* Closes the gap: an entry moves there unless its home lies behind it. */
static void take_out(struct pairing *p, size_t gap)
{
	for (size_t at = (gap + 1) & p->mask; p->v[at].used; at = (at + 1) & p->mask) {
		size_t from = home(p, p->v[at].key);

		if (((at - from) & p->mask) < ((at - gap) & p->mask))
			continue;
		p->v[gap] = p->v[at];
		gap = at;
	}
	p->v[gap].used = false;
	p->n--;
}

/* A pair that ended before it began has no value: events that are not in order. */
static bool end(struct pairing *p, uint64_t key, uint64_t time, uint64_t *duration, uint64_t *no_value)
{
	size_t at = find(p, key);
	uint64_t since = p->v[at].time;

	if (!p->v[at].used)
		return false;
	take_out(p, at);
	*duration = time - since;
	*no_value += time < since;
	return time >= since;
}

void pairing_drop(struct pairing *p)
{
	p->dropped += p->n;
	memset(p->v, 0, (p->mask + 1) * sizeof(*p->v));
	p->n = 0;
}

/* ---- rows --------------------------------------------------------------------------- */

static void find_events(struct pairing *p, struct texts *texts)
{
	if (p->events == texts)
		return;
	texts_release(p->events);
	p->events = texts_keep(texts);
	for (int k = 0; k < 2; k++) {
		size_t len = strlen(p->names[k]);

		p->numbers[k] = -1;
		for (uint32_t i = 0; i < texts->n && p->numbers[k] < 0; i++)
			if ((size_t)(texts->offsets[i + 1] - texts->offsets[i]) == len &&
			    !memcmp(texts->bytes + texts->offsets[i], p->names[k], len))
				p->numbers[k] = (int32_t)i;
	}
}

void pairing_eval(struct pairing *p, const struct row_area *area, const struct batch *b, size_t from, size_t n, size_t time,
		  size_t event, struct vector *out, uint64_t *no_value)
{
	const uint64_t *times = (const uint64_t *)b->v[time].values + from;
	const int32_t *events = (const int32_t *)b->v[event].values + from;

	find_events(p, b->v[event].texts);
	for (int k = 0; k < 2; k++)
		operand_eval(&p->keys[k], area, b, from, n, p->vectors[k]);
	out->whole = false;
	for (size_t i = 0; i < n; i++) {
		bool is[2] = { events[i] == p->numbers[BEGIN], events[i] == p->numbers[END] };

		out->has[i] = false;
		for (int k = 0; k < 2; k++)
			if (is[k] && (!vector_has(p->vectors[k], i) || batch_is_null(b, time, from + i))) {
				++*no_value;
				is[k] = false;
			}
		if (is[END])
			out->has[i] = end(p, p->vectors[END]->v[i], times[i], &out->v[i], no_value);
		if (is[BEGIN])
			begin(p, p->vectors[BEGIN]->v[i], times[i]);
	}
}
