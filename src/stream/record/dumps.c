/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/record/dumps.h"

#include "base/artifact.h"
#include "perfdata/write/flight.h"
#include "perfdata/write/writer.h"
#include "stream/record/recorder.h"
#include "stream/state/requests.h"
#include "stream/state/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- begin and free ------------------------------------------------------------- */

int dumps_begin(struct stream *s, struct fault *f)
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

void dumps_free(struct stream *s)
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

void dumps_round(struct stream *s)
{
	if (s->dumps.asked.time && !is_over(s) && stream_now(s) > s->dumps.asked.time + 2 * DUMPS_PATIENCE)
		write_dump(s);
}

int dumps_end(struct stream *s, struct fault *f)
{
	while (s->dumps.asked.time && !is_over(s))
		write_dump(s);
	return s->dumps.trouble.exit_code ? fault_set(f, EXIT_FAILED, "%s", s->dumps.trouble.text) : 0;
}
