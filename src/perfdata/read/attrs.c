/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a recording, their ids, and where records have ids. */
#include "base/hash.h"
#include "base/room.h"
#include "perfdata/read/reading.h"
#include "perfevent/decode/body.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRAILER = 48 };

/* ---- ids ------------------------------------------------------------------ */

static size_t slot_of(const struct ids *ids, uint64_t id)
{
	size_t i = hash_number(id) & ids->mask;

	while (ids->rows[i].used && ids->rows[i].id != id)
		i = (i + 1) & ids->mask;
	return i;
}

int ids_find(const struct ids *ids, uint64_t id)
{
	size_t i;

	if (!ids->rows)
		return -1;
	i = slot_of(ids, id);
	return ids->rows[i].used ? (int)ids->rows[i].event : -1;
}

static int grow(struct ids *ids)
{
	struct ids more = { .mask = ids->rows ? ids->mask * 2 + 1 : 63, .n = ids->n };

	if (ids->rows && ids->n * 2 <= ids->mask)
		return 0;
	more.rows = calloc(more.mask + 1, sizeof(*more.rows));
	if (!more.rows)
		return -ENOMEM;
	for (size_t i = 0; ids->rows && i <= ids->mask; i++)
		if (ids->rows[i].used)
			more.rows[slot_of(&more, ids->rows[i].id)] = ids->rows[i];
	free(ids->rows);
	*ids = more;
	return 0;
}

/* 0, -ENOMEM, or -EEXIST: the id belongs to another event. */
static int add_id(struct ids *ids, uint64_t id, uint32_t event)
{
	size_t i;

	if (grow(ids))
		return -ENOMEM;
	i = slot_of(ids, id);
	if (ids->rows[i].used)
		return ids->rows[i].event == event ? 0 : -EEXIST;
	ids->rows[i] = (struct id_row){ id, event, 1 };
	ids->n++;
	return 0;
}

/* ---- events --------------------------------------------------------------- */

static uint64_t word_at(const void *at, bool foreign)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return foreign ? bswap_64(v) : v;
}

/*
 * An equal attr is the same event in two cases: the record before was full, so this one continues
 * its ids; or a pipe repeats an event, with an id that is known. Otherwise it is another event: one
 * that was opened twice under two names.
 */
static struct perfdata_event *same_event(struct perfdata_reader *r, const union pev_attr_buf *attr, const char *ids,
					 size_t nids)
{
	int known = r->pipe_layout && nids ? attrs_id_event(r, ids) : -1;
	struct perfdata_event *e = known >= 0 ? &r->events[known] : r->ids_go_on ? &r->events[r->nevents - 1] : NULL;

	return e && !memcmp(&e->attr, attr, sizeof(*attr)) ? e : NULL;
}

static struct perfdata_event *new_event(struct perfdata_reader *r, const union pev_attr_buf *attr)
{
	struct perfdata_event *v = APPENDED(r->events, r->nevents);

	if (!v)
		return NULL;
	v->attr = *attr;
	pev_format_from_attr(&v->format, &v->attr.attr);
	return v;
}

static int take_ids(struct perfdata_reader *r, struct perfdata_event *e, const char *ids, size_t n,
		    struct fault *f)
{
	uint64_t *more = n ? reallocarray(e->ids, e->nids + n, sizeof(*more)) : e->ids;

	if (n && !more)
		return reading_no_memory(f);
	e->ids = more;
	for (size_t i = 0; i < n; i++) {
		uint64_t id = word_at(ids + i * 8, r->foreign);
		int rc;

		if (ids_find(&r->ids, id) == (int)(e - r->events))
			continue;
		rc = add_id(&r->ids, id, (uint32_t)(e - r->events));
		if (rc == -ENOMEM)
			return reading_no_memory(f);
		if (rc)
			return reading_fault(r, f, r->at, "two events have the id %" PRIu64 ", so "
					     "its samples cannot be assigned to one of them; the "
					     "header is damaged", id);
		e->ids[e->nids++] = id;
	}
	r->total_ids += n;
	return 0;
}

int attrs_add(struct perfdata_reader *r, const char *bytes, size_t size, const char *ids, size_t nids,
	      struct fault *f)
{
	union pev_attr_buf attr = { 0 };
	struct perfdata_event *e;

	if (size < MIN_ATTR)
		return reading_fault(r, f, r->at, "an event of %zu bytes; the first kernels wrote %d", size,
				     MIN_ATTR);
	if (r->nevents >= MAX_EVENTS || nids > MAX_IDS - r->total_ids)
		return reading_fault(r, f, r->at, "more than %d events, or %d ids", MAX_EVENTS, MAX_IDS);
	memcpy(&attr, bytes, size < sizeof(attr) ? size : sizeof(attr));
	if (r->foreign)
		swap_attr(&attr.attr, size < sizeof(attr) ? size : sizeof(attr));
	attr.attr.size = (uint32_t)(size < sizeof(attr) ? size : sizeof(attr));
	e = same_event(r, &attr, ids, nids);
	if (!e)
		e = new_event(r, &attr);
	r->ids_go_on = r->pipe_layout && nids >= IDS_PER_RECORD;
	return e ? take_ids(r, e, ids, nids, f) : reading_no_memory(f);
}

/* ---- where records have ids ----------------------------------------------- */

/* Offset of the id in a sample; 0: it has none. */
static uint16_t sample_id_at(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 8;
	if (!(type & PERF_SAMPLE_ID))
		return 0;
	return (uint16_t)(8 + 8 * words_of(type, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
							 PERF_SAMPLE_ADDR));
}

/* Offset of the id from the end of another record; 0: it has none. */
static uint16_t trailer_id_behind(const struct pev_format *fmt)
{
	uint64_t type = fmt->sample_type;

	if (!fmt->sample_id_all)
		return 0;
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 8;
	if (!(type & PERF_SAMPLE_ID))
		return 0;
	return (uint16_t)(8 + 8 * words_of(type, PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

int attrs_settle(struct perfdata_reader *r, struct fault *f)
{
	if (!r->nevents)
		return reading_fault(r, f, r->at, "the recording has no events%s",
				     r->pipe_layout ? ": it ends, or records begin, before the first" : "");
	r->id_at = sample_id_at(r->events[0].attr.attr.sample_type);
	r->id_behind = trailer_id_behind(&r->events[0].format);
	r->by_id = r->nevents > 1 && r->id_at;
	for (size_t i = 1; i < r->nevents; i++) {
		const struct pev_format *a = &r->events[i].format, *b = &r->events[0].format;

		if (sample_id_at(a->sample_type) != r->id_at ||
		    (!r->by_id && (a->sample_type != b->sample_type || a->read_format != b->read_format)))
			return reading_fault(r, f, r->at, "the samples of events 0 and %zu have "
					     "different fields (%#" PRIx64 ", %#" PRIx64 "), but no identifier says "
					     "which is which", i, b->sample_type, a->sample_type);
		if (trailer_id_behind(a) != r->id_behind)
			r->id_behind = 0;
	}
	r->settled = true;
	return 0;
}

int attrs_id_event(const struct perfdata_reader *r, const char *at)
{
	return ids_find(&r->ids, word_at(at, r->foreign));
}

/* For a record whose header says more bytes than it has: tries the words behind its body as ids. The id
 * is the one that is where its own event has it. */
static int event_behind(const struct perfdata_reader *r, const struct perf_event_header *rec, size_t body, bool foreign)
{
	for (size_t at = body; at + 8 <= rec->size && at < body + MAX_TRAILER; at += 8) {
		int event = ids_find(&r->ids, word_at((const char *)rec + at, foreign));

		if (event >= 0 && at + r->id_behind ==
					  pev_true_size_(rec, rec->size, &r->events[event].format, foreign))
			return event;
	}
	return -1;
}

int attrs_event_of(const struct perfdata_reader *r, const struct perf_event_header *rec, bool foreign)
{
	size_t body;
	int event;

	if (!r->by_id)
		return 0;
	if (rec->type == PERF_RECORD_SAMPLE)
		return rec->size < r->id_at + 8u ? -1 : ids_find(&r->ids, word_at((const char *)rec + r->id_at, foreign));
	if (!r->id_behind || rec->size < 8u + r->id_behind)
		return 0;
	body = pev_body_size_(rec, rec->size, foreign);
	event = body ? event_behind(r, rec, body, foreign)
		     : ids_find(&r->ids, word_at((const char *)rec + rec->size - r->id_behind, foreign));
	return event < 0 ? 0 : event;
}

/* Samples of a ring are adjacent, so the id is mostly that of the sample before. */
int perfdata_event_of(struct perfdata_reader *r, const struct perf_event_header *rec)
{
	uint64_t id;

	if (!r->by_id)
		return 0;
	if (rec->type != PERF_RECORD_SAMPLE || rec->size < r->id_at + 8u)
		return attrs_event_of(r, rec, false);
	id = id_of_sample(r, rec);
	if (r->sized[id % SIZED].id == id && r->sized[id % SIZED].size != UINT32_MAX)
		return r->sized[id % SIZED].event;
	if (id != r->last_id || r->last_event < 0) {
		r->last_id = id;
		r->last_event = ids_find(&r->ids, id);
	}
	return r->last_event;
}

uint8_t perfdata_id_at(const struct perfdata_reader *r)
{
	return r->by_id ? (uint8_t)r->id_at : 0;
}
