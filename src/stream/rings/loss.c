/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses: counted, reported to the consumer, and on stderr at most once a second.
 *
 * The kernel writes a LOST record only together with the next record that has room. So what was
 * lost after the last record of a ring is known only from PERF_FORMAT_LOST (Linux 6.0), read when
 * all events are disabled:
 *
 *	lost at the end = sum of `lost` of the ring's descriptors - sum of its LOST records
 *
 * LOST_SAMPLES, which a PMU lost itself, are not in the descriptors' counts.
 */
#include "base/now.h"
#include "base/units.h"
#include "perfdata/write/writer.h"
#include "stream/list/openattr.h"
#include "stream/recording/recording.h"
#include "stream/rings/grow.h"
#include "stream/rings/rings.h"
#include "stream/state/mappings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

void loss_add(struct stream *s, struct ring *ring, uint64_t count, enum stream_loss_cause cause,
	      uint64_t start, uint64_t end)
{
	struct stream_loss loss = {
		.count = count, .cpu = ring->cpu, .cause = cause, .start = start, .end = end,
	};

	s->loss.ring_was_full |= !s->replay && (cause == STREAM_LOSS_RING || cause == STREAM_LOSS_TAIL);
	s->loss.totals.lost += count;
	stream_flush(s);
	if (s->run.ops && s->run.ops->lost)
		s->run.ops->lost(s->run.ctx, &loss);
	loss_tell(s, false);
}

static uint64_t more_mib(uint64_t bytes, uint64_t least)
{
	return bytes >= least ? 4 * (bytes >> 20) : least >> 20;
}

enum { SMALL_STACK = 1024 };

/* A remedy: smaller samples; "" if there are no stacks. */
static const char *smaller_stacks(const struct stream *s)
{
	uint32_t most = 0;

	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].wanted && s->list.events[i].asked.stack_bytes > most)
			most = s->list.events[i].asked.stack_bytes;
	return most > SMALL_STACK ? "--call-graph fp or dwarf,1024" : most ? "--call-graph fp" : "";
}

/* A buffer is filled from the rings: where one was too small before it, a larger one keeps no more. */
static int put_limited(const struct stream *s, const char *stacks, char *buf, size_t size)
{
	char buffer[64] = " also keeps";

	if (!s->opts->buffer)
		snprintf(buffer, sizeof(buffer), " or --buffer %" PRIu64 "M also keep", more_mib(0, 256 << 20));
	return snprintf(buf, size, ": the limit on locked memory keeps rings small: %s%sraise the limit (ulimit -l, sysctl "
			"kernel.perf_event_mlock_kb); a filter%s more\n", stacks, *stacks ? " needs less room; or " : "", buffer);
}

/* Appends a remedy for full rings to the first line about them; the sizes it suggests exceed the
 * present ones. */
static int put_remedy(struct stream *s, char *buf, size_t size)
{
	const char *stacks = smaller_stacks(s);
	bool grows = grow_can(s) && !s->rings.limited;

	if (!s->loss.ring_was_full || s->loss.reported.remedy || (grows && s->loss.reported.growth))
		return snprintf(buf, size, "\n");
	s->loss.reported.growth = true;
	if (grows)
		return snprintf(buf, size, ": rings that lose events are made larger%s%s\n",
				*stacks ? "; smaller stacks need less room: " : "", stacks);
	s->loss.reported.remedy = true;
	if (s->rings.limited)
		return put_limited(s, stacks, buf, size);
	return snprintf(buf, size, ": a filter, larger rings (-m %" PRIu64 "M)%s%s or --buffer %" PRIu64
			"M keep more\n", more_mib(s->opts->ring.bytes, 8 << 20),
			*stacks ? ", " : "", stacks, more_mib(s->opts->buffer, 256 << 20));
}

/* write(2), not stdio: the interrupted thread may hold stdio's lock. */
void loss_tell(struct stream *s, bool now)
{
	uint64_t t = now_ns(CLOCK_MONOTONIC), lost = s->loss.totals.lost;
	char line[512];
	int n;

	if (s->opts->embedded || lost == s->loss.reported.lost || (!now && t - s->loss.reported.lost_ns < SECOND))
		return;
	n = snprintf(line, sizeof(line), "perf-prof: lost %" PRIu64 " event%s%s",
		lost - s->loss.reported.lost, units_plural(lost - s->loss.reported.lost),
			     s->loss.totals.lost_at_least && now ? " at least" : "");
	n += put_remedy(s, line + n, sizeof(line) - (size_t)n);
	s->loss.reported.lost = lost;
	s->loss.reported.lost_ns = t;
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

/* Whether the event's count is the number of its samples for the consumer. sched_stat_* count ns;
 * of events that sources watch, the consumer gets only what the sources make. */
static bool is_sampled_each(const struct stream_event *event)
{
	const struct perf_event_attr *a = event->sampling ? &event->sampling->attr.attr : NULL;

	if (event->taps)
		return false;
	if (event->fmt)
		return strcmp(event->fmt->sys, "sched") || strncmp(event->fmt->name, "sched_stat_", 11) != 0;
	return a && !a->freq && a->sample_period == 1;
}

/* The descriptor's own count: the first one if it leads a group. */
static int read_own(const struct stream *s, const struct opened *o, struct pev_count *c)
{
	struct pev_count *all;
	int rc;

	if (!(pev_event_attr(o->ev)->read_format & PERF_FORMAT_GROUP))
		return pev_event_read(o->ev, c);
	all = o->event->opened.counted ? NULL : calloc(s->list.nevents, sizeof(*all));
	rc = all ? pev_event_read_group(o->ev, all, s->list.nevents) : -EINVAL;
	if (rc > 0)
		*c = all[0];
	free(all);
	return rc > 0 ? 0 : -EINVAL;
}

uint64_t stream_counted(const struct stream *s, const struct stream_event *event)
{
	uint64_t sum = s->replay && event->opened.track != NO_TRACK ? s->replay->tracks[event->opened.track].counted : 0;

	for (size_t i = 0; i < s->rings.nopened; i++) {
		struct pev_count c;

		if (s->rings.opened[i].event == event && !read_own(s, &s->rings.opened[i], &c))
			sum += c.value;
	}
	return sum;
}

/* Sum of PERF_FORMAT_LOST over the descriptors of a ring. Adds their counts to the totals. */
static uint64_t lost_by_read(struct stream *s, const struct ring *ring)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < s->rings.nopened; i++) {
		struct pev_count c;

		if (s->rings.opened[i].ring != ring || read_own(s, &s->rings.opened[i], &c))
			continue;
		lost += c.lost;
		s->loss.totals.counted += c.value;
		s->loss.totals.counted_other |= !is_sampled_each(s->rings.opened[i].event);
	}
	return lost;
}

void loss_count(struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++)
		lost_by_read(s, &s->rings.v[i]);
}

/* ---- LOST records in the recording ------------------------------------------------- */

static const struct opened *recorded_in(const struct stream *s, const struct ring *ring, uint64_t *id)
{
	for (size_t i = 0; i < s->rings.nopened; i++)
		if (s->rings.opened[i].ring == ring && !s->rings.opened[i].event->asked.unrecorded &&
		    !pev_event_id(s->rings.opened[i].ev, id))
			return &s->rings.opened[i];
	return NULL;
}

enum { BODY = 6 };

/* Writes a record of the kernel with these words, and its trailer. */
static void put_record(struct stream *s, const struct ring *ring, const struct perf_event_attr *attr, uint32_t type, uint64_t id,
		       const uint64_t body[BODY], size_t words)
{
	const union { uint32_t cpu[2]; uint64_t value; } cpu = { .cpu = { (uint32_t)ring->cpu } };
	/* in the order of sample_id in perf_event_open(2) */
	const struct { uint64_t part, value; } trailer[] = {
		{ PERF_SAMPLE_TID, 0 }, { PERF_SAMPLE_TIME, stream_now(s) }, { PERF_SAMPLE_ID, id },
		{ PERF_SAMPLE_STREAM_ID, id }, { PERF_SAMPLE_CPU, cpu.value }, { PERF_SAMPLE_IDENTIFIER, id },
	};
	struct { struct perf_event_header header; uint64_t words[BODY + 6]; } r = { .header = { .type = type } };
	size_t n = words;

	memcpy(r.words, body, words * sizeof(*body));

	for (size_t i = 0; i < sizeof(trailer) / sizeof(*trailer) && attr->sample_id_all; i++)
		if (attr->sample_type & trailer[i].part)
			r.words[n++] = trailer[i].value;
	r.header.size = (uint16_t)(sizeof(r.header) + n * sizeof(*r.words));
	perfdata_put(s->record.writer, &r, r.header.size);
}

void loss_record(struct stream *s, const struct ring *ring, uint64_t count)
{
	const struct opened *o;
	union pev_attr_buf attr;
	uint64_t id;

	/* --overwrite: the memory has no end at which this record would belong */
	if (!s->record.writer || !count || s->dumps.flight || !(o = recorded_in(s, ring, &id)))
		return;
	open_attr(s, o->event, o->task, &attr);
	put_record(s, ring, &attr.attr, PERF_RECORD_LOST, id, (const uint64_t[BODY]){ id, count }, 2);
}

void loss_record_counted(struct stream *s)
{
	union pev_attr_buf attr;
	const struct opened *o;
	uint64_t id;

	if (targets_everybody(s->opts) || s->opts->cgroups.n || s->loss.totals.recorded_files != 1)
		return;
	for (size_t i = 0; i < s->list.nevents; i++) {
		const struct stream_event *e = &s->list.events[i];
		uint64_t body[BODY] = { 0, stream_counted(s, e) };   /* the record is of no task */

		for (o = s->rings.opened; o < s->rings.opened + s->rings.nopened && o->event != e; o++)
			;
		if (!e->sampling || e->asked.unrecorded || o == s->rings.opened + s->rings.nopened || pev_event_id(o->ev, &id))
			continue;
		open_attr(s, e, o->task, &attr);
		if (!(attr.attr.read_format & ~(uint64_t)PEV_FORMAT_LOST))
			put_record(s, o->ring, &attr.attr, PERF_RECORD_READ, id, body, attr.attr.read_format ? 3 : 2);
	}
}

/* ---- at the end -------------------------------------------------------------------- */

void loss_tail(struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct ring *ring = &s->rings.v[i];
		uint64_t lost = lost_by_read(s, ring);

		if (!s->rings.has_lost_format)
			s->loss.totals.lost_at_least |= ring->lost != 0;
		if (!s->rings.has_lost_format || lost <= ring->lost)
			continue;
		loss_add(s, ring, lost - ring->lost, STREAM_LOSS_TAIL, s->rings.order ? ring->read_time : 0, 0);
		loss_record(s, ring, lost - ring->lost);
	}
}
