/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a recording: machine, events, formats of tracepoints, and what exists. */
#include "base/now.h"
#include "base/textfile.h"
#include "perfdata/write/writer.h"
#include "stream/code/buildids.h"
#include "stream/code/codefiles.h"
#include "stream/code/jitnames.h"
#include "stream/list/openattr.h"
#include "stream/record/inventory.h"
#include "stream/record/recorder.h"
#include "stream/state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the machine ----------------------------------------------------------- */

enum { MAX_WORDS = 256 };

static void put_machine(struct stream *s)
{
	const char *words[MAX_WORDS];
	char text[4096];
	size_t n = 0;
	ssize_t size = textfile_read("/proc/self/cmdline", text, sizeof(text));

	for (ssize_t at = 0; at < size && n < MAX_WORDS; at += (ssize_t)strlen(text + at) + 1)
		words[n++] = text + at;
	perfdata_put_machine(s->record.writer, PERFDATA_WRITER PERF_PROF_VERSION, words, n);
}

/* ---- events --------------------------------------------------------------- */

/* The events written so far: descriptions follow after all attributes. */
struct inscribed {
	struct perfdata_described *v;
	union pev_attr_buf *attrs;
	const struct stream_event **events;
	uint64_t *ids;                  /* buffer for the ids of one event */
	size_t n;
};

/* The name without an alias. */
static const char *what_of(const struct stream_event *event)
{
	return event->sampling ? event->sampling->what : event->asked.probe ? event->asked.probe : event->name;
}

static void put_event(struct stream *s, const struct stream_event *event, struct inscribed *all)
{
	union pev_attr_buf *attr = &all->attrs[all->n];
	const struct task_target *task = NULL;   /* events of sources are for all tasks, also beside a command */
	size_t n = 0;

	for (size_t i = 0; i < s->rings.nopened && !event->asked.unrecorded; i++)
		if (s->rings.opened[i].event == event && !pev_event_id(s->rings.opened[i].ev, &all->ids[n])) {
			s->record.newest_id = all->ids[n] > s->record.newest_id ? all->ids[n] : s->record.newest_id;
			task = task ? task : s->rings.opened[i].task;
			n++;
		}
	if (!n)
		return;
	open_attr(s, event, task, attr);
	perfdata_put_attr(s->record.writer, &attr->attr, all->ids, n);
	perfdata_put_name(s->record.writer, all->ids[0],
			  s->opts->recording.by_default && event->sampling ? event->sampling->what : event->name);
	all->events[all->n] = event;
	all->v[all->n++] = (struct perfdata_described){ &attr->attr, all->ids[0], what_of(event) };
}

/* An event that a source watches is not recorded if the list has the same tracepoint twice: visible
 * to the consumer, or for all tasks. */
static void mark_doubles(struct stream *s)
{
	for (size_t i = s->list.nshown; i < s->list.nevents; i++)
		for (size_t k = 0; k < s->list.nevents; k++)
			s->list.events[i].asked.unrecorded |= s->list.events[k].fmt == s->list.events[i].fmt &&
						(k < s->list.nshown ||
						(s->list.events[k].asked.everywhere &&
						     !s->list.events[i].asked.everywhere));
}

static int put_events(struct stream *s, struct inscribed *all, struct fault *f)
{
	*all = (struct inscribed){
		.v = calloc(s->list.nevents + 1, sizeof(*all->v)),
			.attrs = calloc(s->list.nevents + 1, sizeof(*all->attrs)),
		.events = calloc(s->list.nevents + 1, sizeof(*all->events)),
			.ids = calloc(s->rings.nopened + 1, sizeof(*all->ids)),
	};
	if (!all->v || !all->attrs || !all->events || !all->ids)
		return fault_set(f, EXIT_FAILED, "out of memory");
	mark_doubles(s);
	for (size_t i = 0; i < s->list.nevents; i++)
		put_event(s, &s->list.events[i], all);
	return 0;
}

static void free_inscribed(struct inscribed *all)
{
	free(all->v);
	free(all->attrs);
	free(all->events);
	free(all->ids);
}

/* Consecutive events with the same leader form a group. */
static int put_groups(struct stream *s, const struct inscribed *all, struct fault *f)
{
	struct perfdata_group *groups = calloc(all->n + 1, sizeof(*groups));
	size_t n = 0;

	if (!groups)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < all->n; i++) {
		const struct stream_event *e = all->events[i];

		if (e->opened.leader == NO_LEADER)
			continue;
		if (&s->list.events[e->opened.leader] == e)
			groups[n++] = (struct perfdata_group){ s->list.specs.groups[e->asked.item->group - 1].name,
							       (uint32_t)i, 0 };
		if (n)
			groups[n - 1].members++;
	}
	if (n)
		perfdata_put_groups(s->record.writer, groups, n);
	free(groups);
	return 0;
}

static int put_formats(struct stream *s, struct fault *f)
{
	const char **names = calloc(s->list.nevents + 1, sizeof(*names));
	char *texts = calloc(s->list.nevents + 1, 512);
	size_t n = 0;
	int rc = -1;

	for (size_t i = 0; names && texts && i < s->list.nevents; i++) {
		const struct stream_event *e = &s->list.events[i];

		if (!e->fmt || e->maker)
			continue;
		names[n] = texts + n * 512;
		snprintf(texts + n++ * 512, 512, "%s:%s", e->fmt->sys, e->fmt->name);
	}
	if (!names || !texts)
		fault_set(f, EXIT_FAILED, "out of memory");
	else
		rc = n ? perfdata_put_tracing(s->record.writer, s->list.tracefs, names, n, f) : 0;
	free(names);
	free(texts);
	return rc;
}

/* The present time by both clocks. */
static void put_clock(struct stream *s)
{
	uint64_t realtime = now_ns(CLOCK_REALTIME);

	perfdata_put_clock(s->record.writer, s->clock.kind == CLOCK_MONO ? CLOCK_MONOTONIC : UINT32_MAX,
			   realtime - (uint64_t)stream_realtime_offset(s), realtime);
}

/* All attributes come first: perf evlist stops at the first feature. */
static int put_beginning(struct stream *s, struct fault *f)
{
	uint64_t identifier = 0;
	struct inscribed all;
	bool side = false;
	int rc = put_events(s, &all, f);

	if (!rc) {
		s->record.codefiles = s->opts->recording.keeps_files ? codefiles_new() : NULL;
		s->record.buildids = s->opts->recording.no_build_ids ? NULL : buildids_new(s->record.codefiles);
		s->record.jitnames = jitnames_new();
		side = s->sideband &&
		       sideband_describe(s->sideband, &s->record.writer, s->record.buildids, s->record.jitnames, &identifier);
		perfdata_put_descriptions(s->record.writer, all.v, all.n);
		rc = put_groups(s, &all, f);
	}
	free_inscribed(&all);
	if (rc)
		return -1;
	put_machine(s);
	put_clock(s);
	if (put_formats(s, f))
		return -1;
	if (s->opts->recording.compressed && perfdata_compress(s->record.writer, f))
		return -1;
	perfdata_end_of_head(s->record.writer);
	s->record.identifier = side ? identifier : 0;
	if (side && !s->opts->recording.flight_bytes)
		recorder_put_inventory(s);
	return 0;
}

void recorder_put_inventory(struct stream *s)
{
	inventory_put(s, s->record.identifier);
}

/* ---- the whole beginning ---------------------------------------------------- */

int recorder_prepare(struct stream *s, struct fault *f)
{
	if (!s->opts->record)
		return 0;
	s->record.writer = perfdata_new(s->opts->record);
	if (!s->record.writer)
		return fault_set(f, EXIT_FAILED, "out of memory");
	return put_beginning(s, f);
}
