/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/recorder.h"

#include "perfdata/writer.h"
#include "stream/inventory.h"
#include "stream/private.h"

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
	perfdata_put_machine(s->writer, "perf-prof", words, n);
}

/* ---- events --------------------------------------------------------------- */

static int put_event(struct stream *s, const struct stream_event *event, uint64_t *ids)
{
	union pev_attr_buf attr;
	size_t n = 0;

	for (size_t i = 0; i < s->nopened; i++)
		if (s->opened[i].event == event && !pev_event_id(s->opened[i].ev, &ids[n]))
			n++;
	if (!n)
		return 0;
	open_attr(s, event, &s->targets.tasks[0], &attr);
	perfdata_put_attr(s->writer, &attr.attr, ids, n);
	perfdata_put_name(s->writer, ids[0], event->name);
	return 0;
}

static int put_events(struct stream *s, struct fault *f)
{
	uint64_t *ids = calloc(s->nopened + 1, sizeof(*ids));

	if (!ids)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < s->nevents; i++)
		put_event(s, &s->events[i], ids);
	free(ids);
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

		if (!e->fmt)
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
	bool side;

	if (put_events(s, f))
		return -1;
	s->buildids = buildids_new();
	side = s->sideband && sideband_describe(s->sideband, &s->writer, s->buildids, &identifier);
	put_machine(s);
	put_clock(s);
	if (put_formats(s, f))
		return -1;
	if (side)
		inventory_put(s, identifier);
	return 0;
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
	return s->writer ? perfdata_open(s->writer, f) : 0;
}

/* Ended by an error that is told now, for the run may last; the exit code tells it again. */
static void tell_error(struct stream *s)
{
	if (!perfdata_error(s->writer) || s->told_record_error)
		return;
	s->told_record_error = true;
	fprintf(stderr, "perf-prof: --record %s: %s: what comes from now on is not recorded; the run "
		"goes on\n", s->opts->record, strerror(-perfdata_error(s->writer)));
}

void recorder_take(struct stream *s, const struct pev_ring *ring, uint64_t from)
{
	uint64_t n = ring->pos - from, at = from & ring->mask, first = ring->mask + 1 - at;

	/* a ring that was found damaged skips bytes that are no records */
	if (!n || n > ring->mask + 1)
		return;
	perfdata_put2(s->writer, ring->data + at, n < first ? n : first, ring->data,
		      n < first ? 0 : n - first);
	tell_error(s);
}

void recorder_round(struct stream *s)
{
	perfdata_put_round(s->writer);
}

int recorder_end(struct stream *s, struct fault *f)
{
	struct perfdata_writer *w = s->writer;

	s->writer = NULL;
	return w ? perfdata_close(w, f) : 0;
}

void recorder_free(struct stream *s)
{
	if (s->writer)
		perfdata_close(s->writer, NULL);
	s->writer = NULL;
}
