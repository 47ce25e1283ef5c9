/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that wait for earlier ones without being copied.
 *
 * A recorder writes one ring after another, so samples of one CPU are consecutive, in order of
 * time. Such a run is one item in its CPU's queue, and the reader's memory with it is pinned until
 * its last sample was delivered. A sample of a run costs a few comparisons here, and one when it is
 * delivered.
 */
#include "stream/replay/private.h"
#include "stream/rings/rings.h"

/* A run while it is built, and what its samples have in common. */
struct run {
	struct order_run held;
	uint64_t n;
	const struct perf_event_header *last;
	uint64_t latest;               /* end of --time */
	uint64_t id;
	uint32_t cpu;
	uint16_t tag;
	uint16_t size;                 /* of the last sample */
	uint16_t least;                /* bytes that a sample needs to be checked */
	uint8_t time_at, cpu_at, id_at;   /* cpu_at, id_at: 0: not in the samples */
};

static uint64_t id_of(const struct run *r, const struct perf_event_header *rec)
{
	return r->id_at ? layout_u64(rec, r->id_at) : 0;
}

static uint16_t least_of(const struct run *r)
{
	uint8_t most = r->time_at > r->cpu_at ? r->time_at : r->cpu_at;

	return (uint16_t)((r->id_at > most ? r->id_at : most) + 8);
}

static void begin(const struct stream *s, struct run *r, const struct perf_event_header *rec, uint32_t event,
		  uint64_t time)
{
	const struct track *t = &s->replay->tracks[event];

	*r = (struct run){
		.n = 1, .last = rec, .tag = (uint16_t)event, .size = rec->size, .cpu = cpu_of(t, rec),
		.time_at = t->time_at, .cpu_at = t->cpu_at, .id_at = perfdata_id_at(s->replay->reader),
		.latest = s->opts->time.to ? s->opts->time.to : UINT64_MAX,
		.held = { .at = (const char *)rec, .first = time, .last = time, .time_at = t->time_at },
	};
	r->least = least_of(r);
	r->id = id_of(r, rec);
}

/* Whether a sample of another event continues the run: its event has the same layout, and is
 * wanted, too. */
static bool takes_event(struct stream *s, struct run *r, const struct perf_event_header *rec)
{
	int event = perfdata_event_of(s->replay->reader, rec);
	const struct track *t = event < 0 ? NULL : &s->replay->tracks[event];

	if (!t || !t->wanted || t->time_at != r->time_at || t->cpu_at != r->cpu_at)
		return false;
	if (r->tag != event)
		r->tag = MIXED;
	r->id = id_of(r, rec);
	return true;
}

/* Checks a sample of another size or event. */
static bool takes_other(struct stream *s, struct run *r, const struct perf_event_header *rec, size_t have)
{
	if (!perfdata_is_sound(s->replay->reader, rec, have) || (id_of(r, rec) != r->id && !takes_event(s, r, rec)))
		return false;
	r->size = rec->size;
	return true;
}

static inline bool takes(struct stream *s, struct run *r, const struct perf_event_header *rec, size_t have)
{
	uint64_t time = layout_u64(rec, r->time_at);

	if (time < r->held.last || time > r->latest || (r->cpu_at && layout_u32(rec, r->cpu_at) != r->cpu))
		return false;
	if ((rec->size != r->size || (r->id_at && layout_u64(rec, r->id_at) != r->id)) && !takes_other(s, r, rec, have))
		return false;
	r->held.last = time;
	r->last = rec;
	r->n++;
	return true;
}

/* Takes samples with the same header, CPU and id as the last one, which need no other check: nearly all. Returns the first other one. */
static inline const char *take_alike(struct run *r, const char *at, const char *end)
{
	const struct perf_event_header *last = r->last;
	const uint64_t header = layout_u64(last, 0), id = layout_u64(last, r->id_at);   /* id_at, cpu_at 0: the header once more */
	const uint32_t cpu = layout_u32(last, r->cpu_at);
	const size_t size = last->size, time_at = r->time_at, id_at = r->id_at, cpu_at = r->cpu_at;
	const char *begin = at;
	uint64_t time = r->held.last;

	for (; (size_t)(end - at) >= size && *(const uint64_t *)at == header; at += size) {
		uint64_t next = *(const uint64_t *)(at + time_at);

		if (*(const uint64_t *)(at + id_at) != id || *(const uint32_t *)(at + cpu_at) != cpu || next < time || next > r->latest)
			break;
		time = next;
	}
	if (at == begin)
		return at;
	r->held.last = time;
	r->last = (const void *)(at - size);
	r->n += (size_t)(at - begin) / size;
	return at;
}

static void look_ahead(struct stream *s, struct run *r, const struct perfdata_ahead *ahead)
{
	const char *at = ahead->at;

	while ((size_t)(ahead->end - at) >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *rec = (const void *)at;
		size_t have = (size_t)(ahead->end - at);

		if (rec->type != PERF_RECORD_SAMPLE || rec->size < r->least || rec->size > have ||
		    !takes(s, r, rec, have))
			break;
		at += rec->size;
		if (r->tag != MIXED)
			at = take_alike(r, at, ahead->end);
	}
	r->held.end = at;
}

/* Accounts for all samples of the run except the first, which the caller counted. */
static void tell(struct stream *s, const struct run *r, uint32_t queue)
{
	struct replay *p = s->replay;

	perfdata_pass(p->reader, r->last, r->n - 1);
	s->loss.totals.counted += r->n - 1;
	s->rings.v[r->cpu_at ? queue : 0].read_time = r->held.last;
	p->run_time = r->held.last;
}

bool run_take(struct stream *s, const struct perf_event_header *rec, uint32_t event, uint32_t queue,
	      uint64_t time)
{
	struct replay *p = s->replay;
	struct perfdata_ahead ahead;
	struct run r;

	if (!p->tracks[event].time_at || !order_takes_run(s->rings.order, queue, time) ||
	    !perfdata_ahead(p->reader, rec, &ahead))
		return false;
	begin(s, &r, rec, event, time);
	look_ahead(s, &r, &ahead);
	tell(s, &r, queue);
	if (r.held.last > p->newest)
		p->newest = r.held.last;
	delivery_make_room(s);
	if (s->run.stopping)
		return true;
	r.held.memory = perfdata_pin(p->reader);
	if (!order_push_run(s->rings.order, queue, &r.held, r.tag))
		return true;
	perfdata_unpin(p->reader, r.held.memory);
	loss_add(s, &s->rings.v[queue], r.n, STREAM_LOSS_STOP, 0, 0);   /* out of memory */
	return true;
}
