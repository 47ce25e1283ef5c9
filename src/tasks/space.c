/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/space.h"

#include "base/room.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

struct space *space_new(bool partial)
{
	struct space *s = calloc(1, sizeof(*s));

	if (s) {
		s->refs = 1;
		s->partial = partial;
	}
	return s;
}

struct space *space_ref(struct space *s)
{
	s->refs++;
	return s;
}

void space_put(struct dsos *d, struct space *s)
{
	if (!s || --s->refs)
		return;
	for (size_t i = 0; i < s->nlive; i++)
		dso_put(d, s->live[i].dso);
	for (size_t i = 0; i < s->ngone; i++)
		dso_put(d, s->gone[i].m.dso);
	free(s->live);
	free(s->gone);
	free(s);
}

struct space *space_copy(const struct space *s)
{
	struct space *copy = space_new(s->partial);

	if (copy && s->nlive) {
		copy->live = malloc(s->nlive * sizeof(*s->live));
		if (!copy->live) {
			free(copy);
			return NULL;
		}
		memcpy(copy->live, s->live, s->nlive * sizeof(*s->live));
		copy->nlive = copy->live_cap = s->nlive;
		for (size_t i = 0; i < s->nlive; i++)
			dso_ref(copy->live[i].dso);
	}
	if (copy)
		copy->changed = s->changed;
	return copy;
}

/* ---- history -------------------------------------------------------------- */

static void forget_before(struct dsos *d, struct space *s, uint64_t time)
{
	size_t n = 0;

	while (n < s->ngone && (s->gone[n].to < time || s->ngone - n >= SPACE_MAX_GONE))
		dso_put(d, s->gone[n++].m.dso);
	s->ngone -= n;
	if (n)
		memmove(s->gone, s->gone + n, s->ngone * sizeof(*s->gone));
}

/* Adds the part of `m` that `by` replaces to the history, with its own reference. */
static void remember(struct space *s, const struct mapping *m, const struct mapping *by)
{
	struct gone_mapping *g;

	if (!ROOM_FOR(s->gone, s->gone_cap, s->ngone, 1))
		return;
	g = &s->gone[s->ngone++];
	g->m = *m;
	g->to = by->from;
	dso_ref(m->dso);
	if (m->start < by->start) {
		g->m.pgoff += by->start - m->start;
		g->m.start = by->start;
	}
	if (m->end > by->end)
		g->m.end = by->end;
}

/* ---- mapping -------------------------------------------------------------- */

/* The first mapping that ends after addr. */
static size_t first_behind(const struct space *s, uint64_t addr)
{
	return FIRST_NOT(i, 0, s->nlive, s->live[i].end <= addr);
}

static bool is_there(const struct space *s, size_t at, const struct mapping *m)
{
	const struct mapping *have = at < s->nlive ? &s->live[at] : NULL;

	return have && have->start <= m->start && have->end >= m->end &&
	       have->dso == m->dso && have->data == m->data && have->pgoff + (m->start - have->start) == m->pgoff;
}

/* Replaces live[at..to) by the n mappings of `by`. */
static void splice(struct space *s, size_t at, size_t to, const struct mapping *by, size_t n)
{
	memmove(s->live + at + n, s->live + to, (s->nlive - to) * sizeof(*s->live));
	memcpy(s->live + at, by, n * sizeof(*by));
	s->nlive += n;
	s->nlive -= to - at;
}

bool space_map(struct dsos *d, struct space *s, const struct mapping *m, uint64_t forget)
{
	struct mapping parts[3];
	size_t n = 0, at = first_behind(s, m->start), to = at;

	if (is_there(s, at, m) || !ROOM_FOR(s->live, s->live_cap, s->nlive, 2) || s->nlive >= SPACE_MAX_LIVE) {
		dso_put(d, m->dso);
		return false;
	}
	forget_before(d, s, forget);
	while (to < s->nlive && s->live[to].start < m->end)
		remember(s, &s->live[to++], m);
	if (to > at && s->live[at].start < m->start) {
		parts[n] = s->live[at];
		parts[n].end = m->start;
		dso_ref(parts[n++].dso);
	}
	parts[n++] = *m;
	if (to > at && s->live[to - 1].end > m->end) {
		parts[n] = s->live[to - 1];
		parts[n].pgoff += m->end - parts[n].start;
		parts[n].start = m->end;
		dso_ref(parts[n++].dso);
	}
	for (size_t i = at; i < to; i++)
		dso_put(d, s->live[i].dso);
	splice(s, at, to, parts, n);
	s->changed = m->from > s->changed ? m->from : s->changed;
	return true;
}

bool space_fill(struct dsos *d, struct space *s, const struct mapping *m)
{
	size_t at = first_behind(s, m->start);

	if ((at < s->nlive && s->live[at].start < m->end) || !ROOM_FOR(s->live, s->live_cap, s->nlive, 1) ||
	    s->nlive >= SPACE_MAX_LIVE) {
		dso_put(d, m->dso);
		return false;
	}
	splice(s, at, at, m, 1);
	return true;
}

void space_carry(struct dsos *d, struct space *s, const struct space *other, uint64_t time)
{
	for (size_t i = 0; i < other->nlive; i++)
		if (other->live[i].from > time) {
			dso_ref(other->live[i].dso);
			space_map(d, s, &other->live[i], 0);
		}
}

/* ---- lookup --------------------------------------------------------------- */

static bool holds(const struct mapping *m, uint64_t addr, uint64_t time)
{
	return addr >= m->start && addr < m->end && time >= m->from;
}

const struct mapping *space_find(const struct space *s, uint64_t addr, uint64_t time)
{
	size_t at = first_behind(s, addr);

	if (at < s->nlive && holds(&s->live[at], addr, time))
		return &s->live[at];
	for (size_t i = s->ngone; i-- > 0;)
		if (time < s->gone[i].to && holds(&s->gone[i].m, addr, time))
			return &s->gone[i].m;
	return NULL;
}

const struct mapping *space_code_before(const struct space *s, uint64_t addr, uint64_t time)
{
	const struct mapping *last = NULL;
	size_t at = first_behind(s, addr);

	at += at < s->nlive && s->live[at].start <= addr;
	while (at-- && !last)
		if (!s->live[at].data && time >= s->live[at].from)
			last = &s->live[at];
	for (size_t i = 0; i < s->ngone; i++)
		if (!s->gone[i].m.data && s->gone[i].m.start <= addr && time >= s->gone[i].m.from && time < s->gone[i].to &&
		    (!last || s->gone[i].m.start > last->start))
			last = &s->gone[i].m;
	return last;
}
