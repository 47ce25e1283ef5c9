/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/choice/counts.h"

#include "base/hash.h"
#include "base/room.h"
#include "stream/state/state.h"

#include <stdlib.h>

enum { MAX_COUNTERS = 1 << 20, ALL_TASKS = -1 };
/* The tid in samples of a task that is exiting. */
#define TID_GONE UINT32_MAX

/* The event of a descriptor. */
struct member {
	uint64_t id;
	const struct stream_event *event;   /* NULL: not in the event list */
	const char *name;
	bool inherits;
	int64_t newest;                     /* with inherit: the last known task; 0: none yet */
};

struct counter_key {
	const struct stream_event *event;   /* the event whose sample has the count: aliases count separately */
	uint64_t id;
	int64_t tid;                        /* ALL_TASKS: all tasks share one counter */
};

struct counter {
	struct counter_key key;
	uint64_t last;
	UT_hash_handle hh;
};

struct counts {
	struct member *members;             /* sorted by id */
	size_t nmembers;
	struct counter *counters;
};

/* ---- members --------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int add(struct counts *c, const struct member *m)
{
	if (!ROOM_FOR_ONE(c->members, c->nmembers))
		return -1;
	c->members[c->nmembers++] = *m;
	return 0;
}

static int add_opened(struct stream *s)
{
	for (size_t i = 0; i < s->rings.nopened; i++) {
		const struct opened *o = &s->rings.opened[i];
		struct member m = { 0, o->event, o->event->name, pev_event_attr(o->ev)->inherit, 0 };

		if (pev_event_id(o->ev, &m.id) || add(s->choice.counts, &m))
			return -1;
	}
	return 0;
}

static int add_recorded(struct stream *s)
{
	const struct replay *p = s->replay;

	for (size_t i = 0; i < p->ntracks; i++) {
		const struct perfdata_event *e = perfdata_event(p->reader, i);
		const struct track *t = &p->tracks[i];
		const struct stream_event *ev = t->first == UINT32_MAX ? NULL : &s->list.events[t->first];

		for (size_t k = 0; k < e->nids; k++) {
			struct member m = { e->ids[k], ev, ev ? ev->name : t->name, e->attr.attr.inherit, 0 };

			if (add(s->choice.counts, &m))
				return -1;
		}
	}
	return 0;
}

/* ---- events ---------------------------------------------------------------- */

static uint64_t read_format(const struct stream_event *ev)
{
	if (!(ev->layout.sample_type & PERF_SAMPLE_READ))
		return 0;
	return ev->sampling ? ev->sampling->attr.attr.read_format : ev->opened.read_format;
}

bool counts_are_in(const struct stream_event *ev)
{
	return !ev->maker && !ev->opened.counted && read_format(ev) & PERF_FORMAT_ID;
}

/* A group cannot have more members than there are events: `room`. */
static int make_counts(struct stream_event *ev, size_t room)
{
	uint64_t format = read_format(ev);
	uint8_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	struct stream_counts *c = calloc(1, sizeof(*c) + room * sizeof(*c->v));

	if (!c)
		return -1;
	c->room = room;
	c->group = format & PERF_FORMAT_GROUP;
	c->first = (uint8_t)(c->group ? 8 + 8 * times : 0);
	c->entry = (uint8_t)(c->group ? 16 + 8 * !!(format & PEV_FORMAT_LOST) : 0);
	c->id = (uint8_t)(c->group ? 8 : 8 + 8 * times);
	free(ev->counts);
	ev->counts = c;
	return 0;
}

int counts_begin(struct stream *s, struct fault *f)
{
	size_t room = s->replay ? s->replay->ntracks : s->list.nevents;
	bool any = false;
	int rc = 0;

	counts_free(s);
	for (size_t i = 0; i < s->list.nevents && !rc; i++)
		if (counts_are_in(&s->list.events[i])) {
			any = true;
			rc = make_counts(&s->list.events[i], room);
		}
	if (any && !rc) {
		s->choice.counts = calloc(1, sizeof(*s->choice.counts));
		rc = !s->choice.counts || (s->replay ? add_recorded(s) : add_opened(s)) ? -1 : 0;
	}
	if (rc)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (s->choice.counts && s->choice.counts->nmembers)
		qsort(s->choice.counts->members, s->choice.counts->nmembers, sizeof(*s->choice.counts->members), by_id);
	return 0;
}

void counts_free(struct stream *s)
{
	if (!s->choice.counts)
		return;
	HASH_FREE(s->choice.counts->counters);
	free(s->choice.counts->members);
	free(s->choice.counts);
	s->choice.counts = NULL;
}

/* ---- samples --------------------------------------------------------------- */

/* Finds a counter or allocates a new one: the only allocation here, once per descriptor or task. */
static struct counter *counter_of(struct counts *all, const struct stream_event *event, uint64_t id, int64_t tid)
{
	struct counter_key key = { event, id, tid };
	struct counter *c = NULL;

	HASH_FIND(hh, all->counters, &key, sizeof(key), c);
	if (c || HASH_COUNT(all->counters) >= MAX_COUNTERS)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->key = key;
	HASH_ADD(hh, all->counters, key, sizeof(key), c);
	return HASH_KEPT(c);
}

/* The sample of an exiting task does not say which one it is, but it was on that CPU, so mostly it
 * is the task seen there last. Taken for a new task, everything it had counted would be added
 * again. */
static struct counter *counter_of_member(struct counts *all, const struct stream_event *event, struct member *m,
					 uint32_t tid)
{
	if (!m->inherits)
		return counter_of(all, event, m->id, ALL_TASKS);
	if (tid == TID_GONE)
		return counter_of(all, event, m->id, m->newest);
	m->newest = tid;
	return counter_of(all, event, m->id, tid);
}

/* A member names only the first of several aliases of a recorded event: if it is the sample's own
 * event, the alias to which the sample is delivered counts. */
static const struct stream_event *event_of(const struct member *m, const struct stream_event *event)
{
	return m->event && m->event->opened.track == event->opened.track && event->opened.track != NO_TRACK
	       ? event : m->event;
}

static void take_one(struct counts *all, const struct stream_event *event, uint64_t id, uint64_t value, uint32_t tid)
{
	struct stream_counts *out = event->counts;
	const struct member key = { .id = id };
	struct member *m = all->nmembers ? bsearch(&key, all->members, all->nmembers, sizeof(key), by_id) : NULL;
	struct counter *c = m ? counter_of_member(all, event, m, tid) : NULL;

	if (!c || out->n == out->room)
		return;
	/* less than before: another task got the same id, and counts from 0 */
	out->v[out->n++] = (struct stream_count){ event_of(m, event), m->name, value,
						  value < c->last ? value : value - c->last };
	c->last = value;
}

void counts_take(struct stream *s, const struct stream_event *event, const struct perf_event_header *rec)
{
	struct stream_counts *out = event->counts;
	const char *at = (const char *)rec + event->layout.read, *end = (const char *)rec + rec->size;
	uint64_t nr = 1, value, id;
	uint32_t tid;

	out->n = 0;
	if (!s->choice.counts || rec->size < event->layout.fixed_end)
		return;
	tid = layout_u32(rec, (uint8_t)(event->layout.tid + 4));
	if (out->group)
		nr = layout_u64(rec, event->layout.read);
	at += out->first;
	for (uint64_t i = 0; i < nr && end - at >= out->id + 8; i++, at += out->entry) {
		memcpy(&value, at, sizeof(value));
		memcpy(&id, at + out->id, sizeof(id));
		take_one(s->choice.counts, event, id, value, tid);
	}
}
