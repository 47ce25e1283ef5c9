/* SPDX-License-Identifier: Apache-2.0 */
/* Copies bytes of rings into the recording, before their space returns to the kernel. */
#include "perfdata/write/writer.h"
#include "stream/choice/choice.h"
#include "stream/choice/dispatch.h"
#include "stream/choice/strays.h"
#include "stream/code/codefiles.h"
#include "stream/code/jitnames.h"
#include "stream/record/recorder.h"
#include "stream/rings/ringrecords.h"
#include "stream/rings/rings.h"
#include "stream/state/requests.h"

#include <stdio.h>
#include <string.h>

/* ---- records that are also delivered ----------------------------------------- */

/* Reports a write error now, because the run may go on for long; the exit code reports it at the end. */
static void tell_error(struct stream *s)
{
	if (!perfdata_error(s->record.writer) || s->record.error_reported)
		return;
	s->record.error_reported = true;
	if (s->opts->recording.only) {
		stream_finish(s);   /* nothing else to do: recorder_end() reports it */
		return;
	}
	fprintf(stderr, "perf-prof: --record %s: %s: later events are not recorded; the run "
		"continues\n", s->opts->record, strerror(-perfdata_error(s->record.writer)));
}

static bool marks_samples(const struct stream *s)
{
	return jitnames_any(s->record.jitnames) || codefiles_any(s->record.codefiles);
}

static void mark_sample(struct stream *s, const struct perf_event_header *rec)
{
	if (jitnames_any(s->record.jitnames))
		jitnames_sampled(s->record.jitnames, rec);
	if (codefiles_any(s->record.codefiles))
		codefiles_sampled(s->record.codefiles, rec);
}

/* Reads the written bytes once more for addresses of generated code, and of files that may be kept; only if there are any. */
static void mark_sampled(struct stream *s, struct pev_ring *ring, uint64_t from)
{
	uint64_t end = ring->pos, damaged = ring->damaged;
	const struct perf_event_header *rec;

	ring->pos = from;
	while (ring->pos < end && (rec = pev_ring_next_(ring)))
		if (rec->type == PERF_RECORD_SAMPLE)
			mark_sample(s, rec);
	ring->pos = end;
	ring->damaged = damaged;   /* already counted */
}

static void take(struct stream *s, struct pev_ring *ring, uint64_t from)
{
	uint64_t n = ring->pos - from, at = from & ring->mask, first = ring->mask + 1 - at;

	/* a damaged ring was skipped to its head: the bytes are no records */
	if (!n || n > ring->mask + 1)
		return;
	if (__builtin_expect(marks_samples(s), 0))
		mark_sampled(s, ring, from);
	perfdata_put2(s->record.writer, ring->data + at, n < first ? n : first, ring->data,
		      n < first ? 0 : n - first);
	tell_error(s);
}

/* Writes what was read up to `before`, the start of the present record. Returns the end of that
 * record, from where to go on. */
static uint64_t take_before(struct stream *s, struct pev_ring *bytes, uint64_t from, uint64_t before)
{
	uint64_t behind = bytes->pos;

	bytes->pos = before;
	take(s, bytes, from);
	return bytes->pos = behind;
}

/* Writes the record with the id of our event. (Rings are read-only.) */
static void put_stray(struct stream *s, const struct perf_event_header *rec, uint64_t id)
{
	const size_t at = strays_id_at(rec);

	if (rec->type == PERF_RECORD_SAMPLE)
		mark_sample(s, rec);
	perfdata_put2(s->record.writer, rec, at, &id, sizeof(id));
	perfdata_put(s->record.writer, (const char *)rec + at + sizeof(id), rec->size - at - sizeof(id));
	tell_error(s);
}

/* Writes what is delivered: reads the slice once more to leave out refused samples. Those are rare,
 * because the kernel filters most of them. */
static void take_others(struct stream *s, struct ring *ring, uint64_t from)
{
	struct pev_ring *bytes = ring->ring;
	uint64_t end = bytes->pos, before = from;
	const struct perf_event_header *rec;

	bytes->pos = from;
	while (bytes->pos < end && (rec = pev_ring_next_(bytes))) {
		uint64_t id = 0;
		bool refused = rec->type == PERF_RECORD_SAMPLE && choice_refuses(s, ring, rec, &id);

		if (rec->type != PERF_RECORD_SAMPLE && s->choice.strays)
			strays_whose(s, rec, &id);
		if (refused || id)
			from = take_before(s, bytes, from, before);
		if (!refused && id)
			put_stray(s, rec, id);
		before = bytes->pos;
	}
	bytes->pos = end;
	take(s, bytes, from);
}

void recorder_take(struct stream *s, struct ring *ring, uint64_t from)
{
	if (s->list.filters_here || s->choice.own.counts || s->list.makers.n || s->choice.strays)
		take_others(s, ring, from);
	else
		take(s, ring->ring, from);
}

/* ---- records that are only written ------------------------------------------ */

enum { PIECE_BYTES = 256 << 10 };

static void look_for_trigger(struct stream *s, const struct perf_event_header *rec)
{
	const struct stream_event *event = dispatch_event_of(s, rec);

	if (event && event->asked.triggers && rec->size >= event->layout.time + 8)
		request_dump(s, layout_u64(rec, event->layout.time), event->name);
}

/* Counts samples. False: the record is not written, because a filter drops it, or because it
 * belongs to no event, for which perf would refuse the whole file. *id: as strays_whose(). */
static bool is_written(struct stream *s, struct ring *ring, const struct perf_event_header *rec, uint64_t *id)
{
	uint64_t lost;

	*id = 0;
	if (rec->type != PERF_RECORD_SAMPLE) {
		if (s->choice.strays)
			strays_whose(s, rec, id);
		lost = ring_take_lost(s, ring, rec);
		if (lost)
			loss_add(s, ring, lost, STREAM_LOSS_RING, 0, 0);
		return true;
	}
	if (__builtin_expect(s->loss.throttles.nopen != 0, 0))
		ring_end_throttled(s, ring, rec);
	if (s->list.filters_here) {
		const struct stream_event *event = dispatch_event_of(s, rec);

		if (event && rec->size >= event->layout.time + 8)
			stream_tasks_before(s, event, rec);
		if (!choice_wants(s, ring, rec))
			return false;
	}
	if (__builtin_expect(s->choice.strays, 0) && !strays_whose(s, rec, id) && rec->size >= 16) {
		loss_add(s, ring, 1, STREAM_LOSS_DAMAGED, 0, 0);
		return false;
	}
	if (s->dumps.flight)
		look_for_trigger(s, rec);
	if (++s->loss.totals.delivered == s->opts->exit_n)
		stream_stop(s);
	return true;
}

/* Writes a piece of the ring, and returns its space to the kernel. */
static void drain_piece(struct stream *s, struct ring *ring)
{
	struct pev_ring *bytes = ring->ring;
	const struct perf_event_header *rec;
	uint64_t begin = bytes->pos, from = begin, before = begin;

	while (!s->run.stopping && bytes->pos - begin < PIECE_BYTES && (rec = pev_ring_next_(bytes))) {
		uint64_t id;
		bool written = is_written(s, ring, rec, &id);

		if (!written || id)
			from = take_before(s, bytes, from, before);
		if (written && id)
			put_stray(s, rec, id);
		before = bytes->pos;
	}
	take(s, bytes, from);
	pev_ring_release_(bytes);
	ring_check_damage(s, ring);
}

/* Reads the ring's head, and collects mappings from before the samples up to there: jitnames need
 * them first. */
static void look_at_end(struct stream *s, struct ring *ring)
{
	if (ring->backlog)
		backlog_move(ring->backlog);
	if (pev_ring_begin_(ring->ring) && s->sideband)
		sideband_collect(s->sideband);
}

/* The time of the ring's next sample; 0 if the next record is no sample, so that it is taken at
 * once. Up to the time, all recorded events have the same layout. */
static uint64_t next_time(const struct stream *s, const struct pev_ring *ring)
{
	const char *rec = ring->data + (ring->pos & ring->mask);
	const uint64_t at = s->list.events[s->list.first].layout.time;

	if (((const struct perf_event_header *)rec)->type != PERF_RECORD_SAMPLE || ring->head - ring->pos < at + 8)
		return 0;
	return *(const uint64_t *)(ring->data + ((ring->pos + at) & ring->mask));
}

static struct ring *earliest(const struct stream *s)
{
	struct ring *first = NULL;
	uint64_t time = 0;

	for (size_t i = 0; i < s->rings.n; i++) {
		const struct pev_ring *ring = s->rings.v[i].ring;

		if (ring->pos == ring->head || (first && next_time(s, ring) >= time))
			continue;
		first = &s->rings.v[i];
		time = next_time(s, ring);
	}
	return first;
}

/* Reads each ring up to its head at the first turn, and no further. Then a round is over: records
 * of the next round are no earlier than those of the previous one. After one piece of each ring,
 * the ring with the earliest sample is next: a reader of the file must hold back as much as one
 * ring is ahead of the others, and a ring can hold more than a reader does. */
void recorder_drain(struct stream *s)
{
	struct ring *ring;

	for (size_t i = 0; i < s->rings.n && !s->run.stopping; i++) {
		look_at_end(s, &s->rings.v[i]);
		drain_piece(s, &s->rings.v[i]);
	}
	while (!s->run.stopping && (ring = earliest(s)))
		drain_piece(s, ring);
}
