/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/throttle.h"

#include "base/hash.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>

/* A recording can have any number of ids; each sample looks at all open spans, so their number is
 * limited. */
enum { MOST_OPEN = 1024 };

struct throttle_open {
	struct { uint64_t stream_id; const struct stream_event *event; } key;
	uint64_t from;
	size_t total;
	bool is_task;
	bool sampled;               /* the sample that was one too many was seen; it follows THROTTLE */
	UT_hash_handle hh;
};

bool throttle_matters(uint64_t ns, uint64_t observed)
{
	return ns >= observed / 100;
}

void throttles_free(struct throttles *t)
{
	HASH_FREE(t->open);
	free(t->totals);
	*t = (struct throttles){ 0 };
}

/* Index into `totals`; SIZE_MAX without memory. */
static size_t total_of(struct throttles *t, const struct throttle_who *who)
{
	for (size_t i = 0; i < t->ntotals; i++)
		if (t->totals[i].event == who->event && t->totals[i].cpu == who->cpu)
			return i;
	if (!ROOM_FOR_ONE(t->totals, t->ntotals))
		return SIZE_MAX;
	t->totals[t->ntotals] = (struct throttle_total){ .event = who->event, .cpu = who->cpu };
	return t->ntotals++;
}

static void close_span(struct throttles *t, struct throttle_open *o, uint64_t time, bool clip, struct throttle_span *span)
{
	struct throttle_total *total = &t->totals[o->total];
	uint64_t ns = time > o->from ? time - o->from : 0;

	total->at_most |= o->is_task || (clip && ns > t->longest);
	if (clip && ns > t->longest)
		ns = t->longest;
	*span = (struct throttle_span){ total->event, total->cpu, o->from, o->from + ns };
	total->ns += ns;
	HASH_DEL(t->open, o);
	free(o);
	t->nopen--;
}

static struct throttle_open *find(const struct throttles *t, const struct throttle_who *who)
{
	struct throttle_open *o, wanted = { .key = { who->stream_id, who->event } };

	HASH_FIND(hh, t->open, &wanted.key, sizeof(wanted.key), o);
	return o;
}

int throttles_begin(struct throttles *t, const struct throttle_who *who, uint64_t time)
{
	struct throttle_open *o;
	size_t total = total_of(t, who);

	t->times++;
	if (total == SIZE_MAX)
		return -ENOMEM;
	t->totals[total].times++;
	o = find(t, who);
	if (o) {   /* the end of the previous span is missing */
		struct throttle_span span;

		close_span(t, o, time, true, &span);
	}
	o = t->nopen < MOST_OPEN ? calloc(1, sizeof(*o)) : NULL;
	if (!o)
		return -ENOMEM;
	*o = (struct throttle_open){ .key = { who->stream_id, who->event }, .from = time, .total = total, .is_task = who->is_task };
	HASH_ADD(hh, t->open, key, sizeof(o->key), o);
	if (HASH_LOST(o)) {
		free(o);
		return -ENOMEM;
	}
	t->nopen++;
	return 0;
}

bool throttles_end(struct throttles *t, const struct throttle_who *who, uint64_t time, struct throttle_span *span)
{
	struct throttle_open *o = find(t, who);

	if (o)
		close_span(t, o, time, o->is_task, span);
	return o;
}

bool throttles_sampled(struct throttles *t, const struct stream_event *event, int cpu, uint64_t time,
		       struct throttle_span *span)
{
	struct throttle_open *o, *next;

	HASH_ITER(hh, t->open, o, next) {
		const struct throttle_total *total = &t->totals[o->total];

		if (total->event != event || total->cpu != cpu)
			continue;
		if (o->sampled) {
			close_span(t, o, time, o->is_task, span);
			return true;
		}
		o->sampled = true;
	}
	return false;
}

bool throttles_finish(struct throttles *t, uint64_t time, struct throttle_span *span)
{
	if (!t->open)
		return false;
	close_span(t, t->open, time, true, span);
	return true;
}
