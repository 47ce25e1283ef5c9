/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/write/flight.h"

#include "base/fifo.h"
#include "perfdata/write/format.h"
#include "perfdata/write/standing.h"

#include <stdlib.h>
#include <string.h>

enum { TIME_IN_SAMPLE = 32, TIME_BEFORE_END = 24 };

struct flight {
	struct fifo records;
	uint64_t overwritten;            /* samples dropped since the last flight_take() */
	struct standing *standing;
};

struct flight *flight_new(size_t bytes)
{
	struct flight *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->standing = standing_new();
	if (!fifo_init(&f->records, bytes, UINT16_MAX + 1) && f->standing)
		return f;
	flight_free(f);
	return NULL;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	fifo_free(&f->records);
	standing_free(f->standing);
	free(f);
}

/* ---- records ---------------------------------------------------------------------- */

static const struct perf_event_header *record_at(struct flight *f, uint64_t at)
{
	const struct perf_event_header *rec = fifo_at(&f->records, at, sizeof(*rec));

	return fifo_at(&f->records, at, rec->size);
}

/* 0: none, or not a record of the kernel. */
static uint64_t time_of(const struct perf_event_header *rec)
{
	size_t at = rec->type == PERF_RECORD_SAMPLE ? TIME_IN_SAMPLE : rec->size - TIME_BEFORE_END;
	uint64_t time;

	if (rec->type >= PERFDATA_HEADER_ATTR || rec->size < TIME_IN_SAMPLE + sizeof(time))
		return 0;
	memcpy(&time, (const char *)rec + at, sizeof(time));
	return time;
}

static void drop_oldest(struct flight *f)
{
	const struct perf_event_header *rec = record_at(f, f->records.tail);

	if (rec->type == PERF_RECORD_SAMPLE)
		f->overwritten++;
	else if (standing_takes(rec))
		standing_put(f->standing, rec);
	f->records.tail += rec->size;
}

/* ---- putting ------------------------------------------------------------------------ */

static void put_record(struct flight *f, const struct perf_event_header *rec)
{
	if (rec->size > f->records.size)
		return;
	while (fifo_room(&f->records) < rec->size)
		drop_oldest(f);
	fifo_put(&f->records, rec, rec->size);
}

/* Rings have no such record. The records behind it cannot be found. */
static bool is_broken(const struct perf_event_header *rec)
{
	return rec->size < sizeof(*rec) || rec->size % 8;
}

/* Returns the offset of the first record that is not whole, or broken. */
static size_t put_whole(struct flight *f, const char *data, size_t n)
{
	size_t at = 0;

	while (n - at >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *rec = (const void *)(data + at);

		if (is_broken(rec) || rec->size > n - at)
			break;
		put_record(f, rec);
		at += rec->size;
	}
	return at;
}

void flight_put2(struct flight *f, const void *first, size_t nfirst, const void *second, size_t nsecond)
{
	size_t at = put_whole(f, first, nfirst), rest = nfirst - at;
	const struct perf_event_header *rec = (const void *)((const char *)first + at);
	_Alignas(8) char whole[UINT16_MAX + 1];

	if (rest) {
		size_t more;

		if (rest < sizeof(*rec) || is_broken(rec) || rec->size - rest > nsecond)
			return;
		more = rec->size - rest;
		memcpy(whole, rec, rest);
		memcpy(whole + rest, second, more);
		put_record(f, (const void *)whole);
		second = (const char *)second + more;
		nsecond -= more;
	}
	put_whole(f, second, nsecond);
}

/* ---- taking -------------------------------------------------------------------------- */

static void count(struct flight_taken *taken, uint64_t time)
{
	if (!taken->samples++ || time < taken->first)
		taken->first = time;
	if (time > taken->last)
		taken->last = time;
}

struct span {
	uint64_t from, to;
	flight_fn *fn;
	void *ctx;
	bool in_round;                   /* a record was passed to fn since the last round */
};

/* Records from before all events have the time 0. */
static bool is_older(const struct perf_event_header *rec, const struct span *s)
{
	return rec->type != PERFDATA_FINISHED_ROUND && time_of(rec) < s->from;
}

/* Keeps tasks and mappings of the records before the span: they are passed to fn first. */
static void take_older(struct flight *f, uint64_t end, const struct span *s, struct flight_taken *taken)
{
	for (uint64_t at = f->records.tail; at < end;) {
		const struct perf_event_header *rec = record_at(f, at);

		at += rec->size;
		if (!is_older(rec, s))
			continue;
		taken->older += rec->type == PERF_RECORD_SAMPLE;
		if (standing_takes(rec))
			standing_put(f->standing, rec);
	}
}

/* Passes a record of the span to fn, and keeps tasks and mappings for the next call. Records behind the
 * span are put again. */
static void take_one(struct flight *f, const struct perf_event_header *rec, struct span *s,
		     struct flight_taken *taken)
{
	uint64_t time = time_of(rec);
	bool round = rec->type == PERFDATA_FINISHED_ROUND;

	if (is_older(rec, s) || (round && !s->in_round))
		return;
	if (time > s->to) {
		_Alignas(8) char copy[UINT16_MAX + 1];   /* where it goes may overlap with where it was */

		put_record(f, memcpy(copy, rec, rec->size));
		return;
	}
	s->fn(s->ctx, rec, rec->size);
	s->in_round = !round;
	if (rec->type == PERF_RECORD_SAMPLE)
		count(taken, time);
	else if (standing_takes(rec))
		standing_put(f->standing, rec);
}

void flight_take(struct flight *f, uint64_t from, uint64_t to, flight_fn *fn, void *ctx,
		 struct flight_taken *taken)
{
	struct span span = { from ? from : 1, to, fn, ctx, false };
	uint64_t end = f->records.head;
	const void *standing;
	size_t size;

	*taken = (struct flight_taken){ .overwritten = f->overwritten };
	f->overwritten = 0;
	take_older(f, end, &span, taken);
	standing = standing_records(f->standing, &size);
	if (size)
		fn(ctx, standing, size);
	while (f->records.tail < end) {
		const struct perf_event_header *rec = record_at(f, f->records.tail);

		f->records.tail += rec->size;   /* frees the room, which may be needed to put this record again */
		take_one(f, rec, &span, taken);
	}
}
