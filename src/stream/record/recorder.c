/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/record/recorder.h"

#include "base/artifact.h"
#include "base/fault.h"
#include "base/now.h"
#include "perfdata/write/flight.h"
#include "perfdata/write/writer.h"
#include "perfevent/rings/ring_private.h"
#include "stream/code/codefiles.h"
#include "stream/code/jitnames.h"
#include "stream/rings/grow.h"
#include "stream/rings/rings.h"
#include "stream/state/requests.h"
#include "stream/state/state.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * --overwrite: a recording in memory, in which the newest records replace the oldest. When a dump
 * is requested, the last seconds up to that moment are written to a file: perfdata/write/flight.h.
 *
 * Records of other CPUs from before that moment may not have been read yet when the dump is
 * requested. So the file is written a little later, and contains only what happened up to that
 * moment.
 */

struct stream;

/* Begins, instead of creating the file; with the privileges of the user. 0, or -1 with f. */
/* ---- begin and free ------------------------------------------------------------- */
static int dumps_begin(struct stream *s, struct fault *f)
{
	if (artifact_check("cannot write", s->opts->record, f))   /* fail now rather than hours later */
		return -1;
	s->dumps.flight = flight_new(s->opts->recording.flight_bytes);
	if (!s->dumps.flight)
		return fault_set(f, EXIT_FAILED, "--keep: no memory for the events to keep");
	perfdata_divert(s->record.writer, s->dumps.flight);
	if (s->record.identifier)
		recorder_put_inventory(s);
	return 0;
}

static void dumps_free(struct stream *s)
{
	flight_free(s->dumps.flight);
	s->dumps.flight = NULL;
}

/* ---- writing ------------------------------------------------------------------------ */

static void put(void *ctx, const void *records, size_t size)
{
	perfdata_put(ctx, records, size);
}

static void write_file(struct stream *s)
{
	uint64_t last = s->opts->recording.flight_ns, until = s->dumps.asked.until;
	struct flight_taken taken;

	perfdata_divert(s->record.writer, NULL);
	if (perfdata_is_open(s->record.writer) || !perfdata_open(s->record.writer, &s->dumps.trouble)) {
		flight_take(s->dumps.flight, last && until > last ? until - last : 0, until, put, s->record.writer,
			    &taken);
		recorder_put_addenda(s);
		perfdata_put_end(s->record.writer);
		perfdata_flush(s->record.writer);
		s->loss.totals.dump = (struct stream_dump){
			.n = s->loss.totals.dump.n + 1, .why = s->dumps.asked.why, .events = taken.samples,
			.older = taken.older, .overwritten = taken.overwritten,
			.span_ns = taken.last - taken.first,
		};
		s->loss.totals.recorded_bytes = perfdata_size(s->record.writer);
	}
	perfdata_divert(s->record.writer, s->dumps.flight);
	s->dumps.asked = s->dumps.next;
	s->dumps.next = (struct dump_moment){ 0 };
}

static bool is_over(const struct stream *s)
{
	uint64_t limit = s->opts->recording.flight_dumps;

	return (limit && s->loss.totals.dump.n >= limit) || s->dumps.trouble.exit_code ||
	       perfdata_error(s->record.writer);
}

static void write_dump(struct stream *s)
{
	if (perfdata_is_open(s->record.writer) && !recorder_next_file(s))
		return;   /* try again in the next round */
	write_file(s);
	if (is_over(s))
		stream_finish(s);
}

/* All rings have been read: writes a dump that was requested. */
static void dumps_round(struct stream *s)
{
	if (s->dumps.asked.time && !is_over(s) && stream_now(s) > s->dumps.asked.time + 2 * DUMPS_PATIENCE)
		write_dump(s);
}

/* The run has ended: writes dumps that were requested. 0, or -1 with f if one could not be written. */
static int dumps_end(struct stream *s, struct fault *f)
{
	while (s->dumps.asked.time && !is_over(s))
		write_dump(s);
	return s->dumps.trouble.exit_code ? fault_set(f, EXIT_FAILED, "%s", s->dumps.trouble.text) : 0;
}

/* ---- the file ------------------------------------------------------------- */

int recorder_begin(struct stream *s, struct fault *f)
{
	if (!s->record.writer)
		return 0;
	s->record.began_ns = s->record.flushed_ns = now_ns(CLOCK_MONOTONIC);
	s->loss.totals.recorded_files = 1;
	return s->opts->recording.flight_bytes ? dumps_begin(s, f) : perfdata_open(s->record.writer, f);
}

/* ---- between two rounds --------------------------------------------------------- */

#define MS UINT64_C(1000000)

static bool is_full(const struct stream *s, uint64_t size, uint64_t now)
{
	const struct stream_opts *o = s->opts;

	return (o->recording.switch_size && size >= o->recording.switch_size) ||
	       (o->recording.switch_ms && now - s->record.began_ns >= o->recording.switch_ms * MS);
}

/* Begins a new file, with a new inventory so that it can be read alone. */
static void switch_file(struct stream *s, uint64_t now)
{
	uint64_t files = s->loss.totals.recorded_files;

	s->record.wants_switch = !recorder_next_file(s);
	if (s->record.wants_switch)
		return;
	s->record.began_ns = now;
	if (s->record.identifier && s->loss.totals.recorded_files > files)
		recorder_put_inventory(s);
}

void recorder_begin_round(struct stream *s)
{
	size_t i = 0;

	if (!s->record.is_full || grow_is_pending(s))
		return;
	while (i < s->rings.n && !pev_ring_waiting_(s->rings.v[i].ring))
		i++;
	if (i == s->rings.n)
		return;
	s->record.is_full = false;
	switch_file(s, now_ns(CLOCK_MONOTONIC));
}

enum { FLUSH_MS = 1000 };   /* at most this much is lost if the process is killed */

/* The size of data that is not compressed yet is unknown. So near a limit, it is compressed and
 * written first. */
static uint64_t size_of_file(struct stream *s)
{
	const struct stream_opts *o = s->opts;
	uint64_t size = perfdata_size(s->record.writer);

	if (o->recording.compressed && ((o->recording.max_size && size >= o->recording.max_size) ||
					(o->recording.switch_size && size >= o->recording.switch_size))) {
		perfdata_flush(s->record.writer);
		size = perfdata_size(s->record.writer);
	}
	return size;
}

static void file_round(struct stream *s, uint64_t now)
{
	uint64_t size = size_of_file(s);

	if (size != s->record.rounded)
		perfdata_put_round(s->record.writer);
	if (now - s->record.flushed_ns >= FLUSH_MS * MS) {
		perfdata_flush(s->record.writer);
		jitnames_look(s->record.jitnames, now);
		s->record.flushed_ns = now;
	}
	s->record.is_full = is_full(s, size, now);
	if (s->record.wants_switch)
		switch_file(s, now);
	if (s->opts->recording.max_size && size >= s->opts->recording.max_size && !s->record.has_ended) {
		s->record.has_ended = true;
		if (s->opts->verbose >= 0)
			fprintf(stderr, "perf-prof: %s has %" PRIu64 " bytes: --max-size is reached, so the recording ends here%s\n",
				s->opts->record, size, s->run.end_with >= 0 ? ", and the command is ended" : "");
		stream_finish(s);
	}
	s->record.rounded = s->loss.totals.recorded_bytes = perfdata_size(s->record.writer);
}

void recorder_round(struct stream *s)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	/* a larger ring that nobody reads yet may have records from before the end of this round */
	if (grow_is_pending(s))
		return;
	if (!s->dumps.flight) {
		file_round(s, now);
		return;
	}
	perfdata_put_round(s->record.writer);
	if (now - s->record.flushed_ns >= FLUSH_MS * MS) {
		jitnames_look(s->record.jitnames, now);
		s->record.flushed_ns = now;
	}
	dumps_round(s);
}

/* ---- the end -------------------------------------------------------------------- */

int recorder_end(struct stream *s, struct fault *f)
{
	struct perfdata_writer *w = s->record.writer;
	bool written = w && (!s->dumps.flight || s->loss.totals.dump.n);
	int rc = 0;

	if (w && s->sideband)
		sideband_collect(s->sideband);   /* the last names and mappings */
	if (w && s->dumps.flight) {
		rc = dumps_end(s, f);
	} else if (w) {
		atomic_fetch_and(&s->run.attention.bits, ~(unsigned int)ATTN_STOP);   /* a new signal, from now on,
										       * ends the reading of JIT
										       * names */
		jitnames_heed(s->record.jitnames, &s->run.attention);
		loss_record_counted(s);
		recorder_put_addenda(s);
		s->loss.totals.recorded_bytes = perfdata_size(w);
	}
	s->record.writer = NULL;
	if (w)
		perfdata_divert(w, NULL);
	dumps_free(s);
	rc |= w ? perfdata_close(w, rc ? NULL : f) : 0;
	s->record.failed = rc;
	if (written && !rc)
		codefiles_keep(s->record.codefiles, &s->run.attention, s->opts->verbose);
	return rc;
}

void recorder_free(struct stream *s)
{
	if (s->record.writer)
		perfdata_close(s->record.writer, NULL);
	s->record.writer = NULL;
	dumps_free(s);
	for (size_t i = 0; i < s->record.nold; i++)
		free(s->record.old[i]);
	free(s->record.old);
	s->record.old = NULL;
	s->record.nold = 0;
}
