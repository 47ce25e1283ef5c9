/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/recorder.h"
#include "stream/strays.h"

#include "base/note.h"
#include "base/outfile.h"
#include "perfdata/write/writer.h"
#include "stream/choice.h"
#include "stream/dispatch.h"
#include "stream/inventory.h"
#include "stream/private.h"
#include "stream/requests.h"
#include "stream/ringrecords.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- the machine ----------------------------------------------------------- */

enum { MAX_WORDS = 256 };

static void put_machine(struct stream *s)
{
	const char *words[MAX_WORDS];
	char text[4096];
	size_t n = 0;
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t size = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[size] = '\0';
	for (size_t at = 0; at < size && n < MAX_WORDS; at += strlen(text + at) + 1)
		words[n++] = text + at;
	if (f)
		fclose(f);
	perfdata_put_machine(s->writer, PERFDATA_WRITER PERF_PROF_VERSION, words, n);
}

/* ---- events --------------------------------------------------------------- */

/* What is put of each, and again behind all attrs. */
struct inscribed {
	struct perfdata_described *v;
	union pev_attr_buf *attrs;
	const struct stream_event **events;
	uint64_t *ids;                  /* of one event */
	size_t n;
};

/* Without its alias, if it has one. */
static const char *what_of(const struct stream_event *event)
{
	return event->sampling ? event->sampling->what : event->probe ? event->probe : event->name;
}

static void put_event(struct stream *s, const struct stream_event *event, struct inscribed *all)
{
	union pev_attr_buf *attr = &all->attrs[all->n];
	size_t n = 0;

	for (size_t i = 0; i < s->nopened && !event->unrecorded; i++)
		if (s->opened[i].event == event && !pev_event_id(s->opened[i].ev, &all->ids[n]))
			n++;
	if (!n)
		return;
	open_attr(s, event, &s->targets.tasks[0], attr);
	perfdata_put_attr(s->writer, &attr->attr, all->ids, n);
	perfdata_put_name(s->writer, all->ids[0], event->name);
	all->events[all->n] = event;
	all->v[all->n++] = (struct perfdata_described){ &attr->attr, all->ids[0], what_of(event) };
}

/* What a source is made of is recorded, unless it would be there twice: shown, or watched everywhere. */
static void mark_doubles(struct stream *s)
{
	for (size_t i = s->nshown; i < s->nevents; i++)
		for (size_t k = 0; k < s->nevents; k++)
			s->events[i].unrecorded |= s->events[k].fmt == s->events[i].fmt &&
						   (k < s->nshown || (s->events[k].everywhere && !s->events[i].everywhere));
}

static int put_events(struct stream *s, struct inscribed *all, struct fault *f)
{
	*all = (struct inscribed){
		.v = calloc(s->nevents + 1, sizeof(*all->v)), .attrs = calloc(s->nevents + 1, sizeof(*all->attrs)),
		.events = calloc(s->nevents + 1, sizeof(*all->events)), .ids = calloc(s->nopened + 1, sizeof(*all->ids)),
	};
	if (!all->v || !all->attrs || !all->events || !all->ids)
		return fault_set(f, EXIT_FAILED, "out of memory");
	mark_doubles(s);
	for (size_t i = 0; i < s->nevents; i++)
		put_event(s, &s->events[i], all);
	return 0;
}

static void free_inscribed(struct inscribed *all)
{
	free(all->v);
	free(all->attrs);
	free(all->events);
	free(all->ids);
}

/* Of those in a row that have one leader. */
static int put_groups(struct stream *s, const struct inscribed *all, struct fault *f)
{
	struct perfdata_group *groups = calloc(all->n + 1, sizeof(*groups));
	size_t n = 0;

	if (!groups)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < all->n; i++) {
		const struct stream_event *e = all->events[i];

		if (e->leader == NO_LEADER)
			continue;
		if (&s->events[e->leader] == e)
			groups[n++] = (struct perfdata_group){ s->specs.groups[e->item->group - 1].name, (uint32_t)i, 0 };
		if (n)
			groups[n - 1].members++;
	}
	if (n)
		perfdata_put_groups(s->writer, groups, n);
	free(groups);
	return 0;
}

static int put_formats(struct stream *s, struct fault *f)
{
	const char **names = calloc(s->nevents + 1, sizeof(*names));
	char *texts = calloc(s->nevents + 1, 512);
	size_t n = 0;
	int rc = -1;

	for (size_t i = 0; names && texts && i < s->nevents; i++) {
		const struct stream_event *e = &s->events[i];

		if (!e->fmt || e->maker)
			continue;
		names[n] = texts + n * 512;
		snprintf(texts + n++ * 512, 512, "%s:%s", e->fmt->sys, e->fmt->name);
	}
	if (!names || !texts)
		fault_set(f, EXIT_FAILED, "out of memory");
	else
		rc = n ? perfdata_put_tracing(s->writer, s->tracefs, names, n, f) : 0;
	free(names);
	free(texts);
	return rc;
}

/* What time it is, by both clocks. */
static void put_clock(struct stream *s)
{
	struct timespec now;
	int64_t realtime;

	clock_gettime(CLOCK_REALTIME, &now);
	realtime = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	perfdata_put_clock(s->writer, s->clock.kind == CLOCK_MONO ? CLOCK_MONOTONIC : UINT32_MAX,
			   (uint64_t)(realtime - stream_realtime_offset(s)), (uint64_t)realtime);
}

/* Attrs come first, all of them: perf evlist reads no further than the first feature. */
static int put_beginning(struct stream *s, struct fault *f)
{
	uint64_t identifier = 0;
	struct inscribed all;
	bool side = false;
	int rc = put_events(s, &all, f);

	if (!rc) {
		s->buildids = buildids_new();
		s->jitnames = jitnames_new();
		side = s->sideband && sideband_describe(s->sideband, &s->writer, s->buildids, s->jitnames, &identifier);
		perfdata_put_descriptions(s->writer, all.v, all.n);
		rc = put_groups(s, &all, f);
	}
	free_inscribed(&all);
	if (rc)
		return -1;
	put_machine(s);
	put_clock(s);
	if (put_formats(s, f))
		return -1;
	if (s->opts->recording.compressed && perfdata_compress(s->writer, f))
		return -1;
	perfdata_end_of_head(s->writer);
	s->recording.identifier = side ? identifier : 0;
	if (side && !s->opts->recording.flight_bytes)
		recorder_put_inventory(s);
	return 0;
}

void recorder_put_inventory(struct stream *s)
{
	inventory_put(s, s->recording.identifier);
}

/* ---- the file ------------------------------------------------------------- */

int recorder_prepare(struct stream *s, struct fault *f)
{
	if (!s->opts->record)
		return 0;
	s->writer = perfdata_new(s->opts->record);
	if (!s->writer)
		return fault_set(f, EXIT_FAILED, "out of memory");
	return put_beginning(s, f);
}

int recorder_begin(struct stream *s, struct fault *f)
{
	if (!s->writer)
		return 0;
	s->recording.began_ns = s->recording.flushed_ns = attention_now();
	s->totals.recorded_files = 1;
	return s->opts->recording.flight_bytes ? dumps_begin(s, f) : perfdata_open(s->writer, f);
}

/* Ended by an error that is told now, for the run may last; the exit code tells it again. */
static void tell_error(struct stream *s)
{
	if (!perfdata_error(s->writer) || s->told_record_error)
		return;
	s->told_record_error = true;
	if (s->opts->recording.only) {
		stream_finish(s);   /* there is nothing else to do; the end tells it */
		return;
	}
	fprintf(stderr, "perf-prof: --record %s: %s: what comes from now on is not recorded; the run "
		"goes on\n", s->opts->record, strerror(-perfdata_error(s->writer)));
}

/* Once more through what is written: only where a process makes code. */
static void mark_sampled(struct stream *s, struct pev_ring *ring, uint64_t from)
{
	uint64_t end = ring->pos, damaged = ring->damaged;
	const struct perf_event_header *rec;

	ring->pos = from;
	while (ring->pos < end && (rec = pev_ring_next_(ring)))
		if (rec->type == PERF_RECORD_SAMPLE)
			jitnames_sampled(s->jitnames, rec);
	ring->pos = end;
	ring->damaged = damaged;   /* that was counted before */
}

static void take(struct stream *s, struct pev_ring *ring, uint64_t from)
{
	uint64_t n = ring->pos - from, at = from & ring->mask, first = ring->mask + 1 - at;

	/* a ring that was found damaged skips bytes that are no records */
	if (!n || n > ring->mask + 1)
		return;
	if (__builtin_expect(jitnames_any(s->jitnames), 0))
		mark_sampled(s, ring, from);
	perfdata_put2(s->writer, ring->data + at, n < first ? n : first, ring->data,
		      n < first ? 0 : n - first);
	tell_error(s);
}

/* What was read before the last record is written: from there on it is the record's end. */
static uint64_t take_before(struct stream *s, struct pev_ring *bytes, uint64_t from, uint64_t before)
{
	uint64_t behind = bytes->pos;

	bytes->pos = before;
	take(s, bytes, from);
	return bytes->pos = behind;
}

/* With our id. (The kernel lets nobody write into a ring.) */
static void put_stray(struct stream *s, const struct perf_event_header *rec, uint64_t id)
{
	struct {
		struct perf_event_header header;
		uint64_t id;
	} head = { *rec, id };

	if (jitnames_any(s->jitnames))
		jitnames_sampled(s->jitnames, rec);
	perfdata_put2(s->writer, &head, sizeof(head), (const char *)rec + sizeof(head), rec->size - sizeof(head));
	tell_error(s);
}

/* Goes through them once more, which is rare: mostly the kernel refuses. */
static void take_others(struct stream *s, struct ring *ring, uint64_t from)
{
	struct pev_ring *bytes = ring->ring;
	uint64_t end = bytes->pos, before = from;
	const struct perf_event_header *rec;

	bytes->pos = from;
	while (bytes->pos < end && (rec = pev_ring_next_(bytes))) {
		uint64_t id = 0;
		bool refused = rec->type == PERF_RECORD_SAMPLE && choice_refuses(s, ring, rec, &id);

		if (refused || id)
			from = take_before(s, bytes, from, before);
		if (!refused && id)
			put_stray(s, rec, id);
		before = bytes->pos;
	}
	bytes->pos = end;
	take(s, bytes, from);
}

/* What was mapped before the samples that lie in the ring is known before they are looked at. */
static void collect_mappings(struct stream *s)
{
	if (s->sideband && s->side_slice != s->slice)
		sideband_collect(s->sideband);
	s->side_slice = s->slice;
}

void recorder_take(struct stream *s, struct ring *ring, uint64_t from)
{
	if (ring->ring->pos != from)
		collect_mappings(s);
	if (s->filters_here || s->own.counts || s->makers.n || s->strays)
		take_others(s, ring, from);
	else
		take(s, ring->ring, from);
}

/* ---- nothing but written ---------------------------------------------------- */

enum { PIECE_BYTES = 256 << 10 };

static void look_for_trigger(struct stream *s, const struct perf_event_header *rec)
{
	const struct stream_event *event = dispatch_event_of(s, rec);

	if (event && event->triggers && rec->size >= event->layout.time + 8)
		request_dump(s, layout_u64(rec, event->layout.time), event->name);
}

/* Samples are counted; those that a filter here refuses end a stretch that is written. So does one that is of no
 * event: perf refuses the whole file for it. *id: as strays_whose(). */
static bool is_written(struct stream *s, struct ring *ring, const struct perf_event_header *rec, uint64_t *id)
{
	uint64_t lost;

	*id = 0;
	if (rec->type != PERF_RECORD_SAMPLE) {
		lost = ring_take_lost(s, ring, rec);
		if (lost)
			loss_add(s, ring, lost, STREAM_LOSS_RING, 0, 0);
		return true;
	}
	if (__builtin_expect(s->throttles.nopen != 0, 0))
		ring_end_throttled(s, ring, rec);
	if (s->filters_here && !choice_wants(s, ring, rec))
		return false;
	if (__builtin_expect(s->strays, 0) && !strays_whose(s, rec, id) && rec->size >= 16) {
		loss_add(s, ring, 1, STREAM_LOSS_DAMAGED, 0, 0);
		return false;
	}
	if (s->dumps.flight)
		look_for_trigger(s, rec);
	if (++s->totals.delivered == s->opts->exit_n)
		stream_stop(s);
	return true;
}

/* A piece: its space is given back when it is written. */
static void drain_piece(struct stream *s, struct ring *ring)
{
	struct pev_ring *bytes = ring->ring;
	const struct perf_event_header *rec;
	uint64_t begin = bytes->pos, from = begin, before = begin;

	while (!s->stopping && bytes->pos - begin < PIECE_BYTES && (rec = pev_ring_next_(bytes))) {
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

/* What was mapped before the samples up to the ring's end of now is known before they are looked at. */
static void look_at_end(struct stream *s, struct ring *ring)
{
	if (ring->backlog)
		backlog_move(ring->backlog);
	if (pev_ring_begin_(ring->ring) && s->sideband)
		sideband_collect(s->sideband);
}

/* When the ring's next sample was; another record is due at once. All that is recorded begins alike, up to
 * the time. */
static uint64_t next_time(const struct stream *s, const struct pev_ring *ring)
{
	const char *rec = ring->data + (ring->pos & ring->mask);
	const uint64_t at = s->events[s->first].layout.time;

	if (((const struct perf_event_header *)rec)->type != PERF_RECORD_SAMPLE || ring->head - ring->pos < at + 8)
		return 0;
	return *(const uint64_t *)(ring->data + ((ring->pos + at) & ring->mask));
}

static struct ring *earliest(const struct stream *s)
{
	struct ring *first = NULL;
	uint64_t time = 0;

	for (size_t i = 0; i < s->nrings; i++) {
		const struct pev_ring *ring = s->rings[i].ring;

		if (ring->pos == ring->head || (first && next_time(s, ring) >= time))
			continue;
		first = &s->rings[i];
		time = next_time(s, ring);
	}
	return first;
}

/* Each ring up to its end at its first turn and no further: then a round is over, and what comes with
 * the next one is no older than what came before this one. A piece of each, then whichever is behind: who
 * reads the file holds what one ring is ahead of the others, and a ring can hold more than he does. */
void recorder_drain(struct stream *s)
{
	struct ring *ring;

	for (size_t i = 0; i < s->nrings && !s->stopping; i++) {
		look_at_end(s, &s->rings[i]);
		drain_piece(s, &s->rings[i]);
	}
	while (!s->stopping && (ring = earliest(s)))
		drain_piece(s, ring);
}

/* ---- one file after the other ------------------------------------------------- */

#define MS UINT64_C(1000000)

static bool is_full(const struct stream *s, uint64_t size, uint64_t now)
{
	const struct stream_opts *o = s->opts;

	return s->recording.wants_switch ||
	       (o->recording.switch_size && size >= o->recording.switch_size) ||
	       (o->recording.switch_ms && now - s->recording.began_ns >= o->recording.switch_ms * MS);
}

/* FILE.20260115103045, as perf calls them, two digits of a second behind; a name of its own. */
static char *name_of_now(const char *path)
{
	struct timespec now;
	struct tm tm;
	char text[64], *name = NULL;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	if (asprintf(&name, "%s.%s%02ld", path, text, now.tv_nsec / 10000000) < 0)
		return NULL;
	return name;
}

/* The oldest ones make room. */
static void keep_file(struct stream *s, char *name)
{
	char **old = realloc(s->recording.old, (s->recording.nold + 1) * sizeof(*old));

	if (!old) {
		free(name);
		return;
	}
	s->recording.old = old;
	old[s->recording.nold++] = name;
	if (!s->opts->recording.keep || s->recording.nold <= s->opts->recording.keep)
		return;
	outfile_unlink(old[0]);
	free(old[0]);
	memmove(old, old + 1, --s->recording.nold * sizeof(*old));
}

/* A second one in the same hundredth would take the first one's name: it waits. */
static bool is_taken(const struct stream *s, const char *name)
{
	return name && s->recording.nold && !strcmp(name, s->recording.old[s->recording.nold - 1]);
}

/* Of code that was made meanwhile; nothing that belongs to the file may be put behind it. */
void recorder_put_jitnames(struct stream *s)
{
	const char *why;

	jitnames_put(s->jitnames, s->writer);
	while ((why = jitnames_missing(s->jitnames)))
		note(s->opts->verbose, "%s: some functions of code that programs made have no names: %s",
		     s->opts->record, why);
}

bool recorder_next_file(struct stream *s)
{
	char *name = name_of_now(s->opts->record);
	struct fault f = {0};

	if (s->recording.one_file) {
		free(name);
		return true;
	}
	if (is_taken(s, name)) {
		free(name);
		return false;
	}
	if (name && !s->dumps.flight)
		recorder_put_jitnames(s);
	if (!name || perfdata_switch(s->writer, name, &f)) {
		fprintf(stderr, "perf-prof: %s; the recording goes on in one file\n",
			name ? f.text : "out of memory");
		free(name);
		s->recording.one_file = !s->dumps.flight;
		return true;
	}
	if (!s->dumps.flight)
		jitnames_next_file(s->jitnames);
	s->totals.recorded_files++;
	keep_file(s, name);
	return true;
}

/* Who is there is told anew: each file can be read alone. */
static void switch_file(struct stream *s, uint64_t now)
{
	uint64_t files = s->totals.recorded_files;

	s->recording.wants_switch = !recorder_next_file(s);
	if (s->recording.wants_switch)
		return;
	s->recording.began_ns = now;
	if (s->recording.identifier && s->totals.recorded_files > files)
		recorder_put_inventory(s);
}

enum { FLUSH_MS = 1000 };   /* what a kill -9 can take at most */

/* Of what waits to be compressed nobody knows how much it will be: where a limit is near,
 * it is. */
static uint64_t size_of_file(struct stream *s)
{
	const struct stream_opts *o = s->opts;
	uint64_t size = perfdata_size(s->writer);

	if (o->recording.compressed && ((o->recording.max_size && size >= o->recording.max_size) ||
					(o->recording.switch_size && size >= o->recording.switch_size))) {
		perfdata_flush(s->writer);
		size = perfdata_size(s->writer);
	}
	return size;
}

static void file_round(struct stream *s, uint64_t now)
{
	uint64_t size = size_of_file(s);

	if (size != s->recording.rounded)
		perfdata_put_round(s->writer);
	if (now - s->recording.flushed_ns >= FLUSH_MS * MS) {
		perfdata_flush(s->writer);
		jitnames_look(s->jitnames, now);
		s->recording.flushed_ns = now;
	}
	if (is_full(s, size, now))
		switch_file(s, now);
	if (s->opts->recording.max_size && size >= s->opts->recording.max_size)
		stream_finish(s);
	s->recording.rounded = s->totals.recorded_bytes = perfdata_size(s->writer);
}

void recorder_round(struct stream *s)
{
	uint64_t now = attention_now();

	/* a larger ring that isn't read yet may hold what is older than a round's end says */
	if (grow_is_pending(s))
		return;
	if (!s->dumps.flight) {
		file_round(s, now);
		return;
	}
	perfdata_put_round(s->writer);
	if (now - s->recording.flushed_ns >= FLUSH_MS * MS) {
		jitnames_look(s->jitnames, now);
		s->recording.flushed_ns = now;
	}
	dumps_round(s);
}

/* ---- the end -------------------------------------------------------------------- */

int recorder_end(struct stream *s, struct fault *f)
{
	struct perfdata_writer *w = s->writer;
	int rc = 0;

	if (w && s->sideband)
		sideband_collect(s->sideband);   /* the last names and mappings */
	if (w && s->dumps.flight) {
		rc = dumps_end(s, f);
	} else if (w) {
		atomic_fetch_and(&s->attn.bits, ~(unsigned int)ATTN_STOP);   /* the run has ended: the next one is meant */
		jitnames_heed(s->jitnames, &s->attn);
		recorder_put_jitnames(s);
		s->totals.recorded_bytes = perfdata_size(w);
	}
	s->writer = NULL;
	if (w)
		perfdata_divert(w, NULL);
	dumps_free(s);
	return rc | (w ? perfdata_close(w, rc ? NULL : f) : 0);
}

void recorder_free(struct stream *s)
{
	if (s->writer)
		perfdata_close(s->writer, NULL);
	s->writer = NULL;
	dumps_free(s);
	for (size_t i = 0; i < s->recording.nold; i++)
		free(s->recording.old[i]);
	free(s->recording.old);
	s->recording.old = NULL;
	s->recording.nold = 0;
}
