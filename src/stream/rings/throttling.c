/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throttled spans in rings and recordings, and the time that they are a part of.
 *
 * Live, that is the time in which the event was on: time_running as the kernel counts it; for a
 * task, only while it ran on that CPU. For a recording it is the time from the first to the last
 * sample of the CPU.
 */
#include "base/now.h"
#include "stream/rings/rings.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define LONGEST_TICK UINT64_C(10000000)   /* for a recording of another machine: HZ is at least 100 */

/* The length of a tick: the resolution of CLOCK_MONOTONIC_COARSE. */
static uint64_t tick(const struct stream *s)
{
	struct timespec t = { 0 };

	if ((s->replay && !s->replay->same_machine) || clock_getres(CLOCK_MONOTONIC_COARSE, &t) || t.tv_sec || !t.tv_nsec)
		return LONGEST_TICK;
	return (uint64_t)t.tv_nsec;
}

static bool is_on_task(const struct stream *s, const struct stream_event *event)
{
	const struct perf_event_attr *a = event->sampling ? &event->sampling->attr.attr : NULL;

	/* perf sets `inherit` for whole CPUs, too */
	if (s->replay)
		return a && (a->inherit || a->enable_on_exec);
	return !event->asked.everywhere && !targets_everybody(s->opts);
}

static void lose(struct stream *s, const struct throttle_span *span)
{
	const struct stream_loss loss = {
		.cpu = span->cpu, .cause = STREAM_LOSS_THROTTLED, .start = span->from, .end = span->to,
		.event = span->event,
	};

	stream_flush(s);
	if (s->run.ops && s->run.ops->lost)
		s->run.ops->lost(s->run.ctx, &loss);
}

/* From 6.16 on, a group is throttled together, and only its leader has THROTTLE records. */
static bool is_by_leaders(const struct stream *s)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;
	const char *release = uname(&name) ? NULL : name.release;

	if (s->replay)
		release = perfdata_info(s->replay->reader)->osrelease;
	return release && sscanf(release, "%u.%u", &major, &minor) == 2 && (major > 6 || (major == 6 && minor >= 16));
}

/* GROUP_DESC in a recording: index of the leader, and number of events in the group. */
static bool is_recorded_member(const struct stream *s, const struct stream_event *leader, const struct stream_event *event)
{
	const struct perfdata_info *info = perfdata_info(s->replay->reader);

	for (size_t i = 0; i < info->nfacts; i++)
		if (info->facts[i].feature == PERFDATA_GROUP_DESC && info->facts[i].number[0] == leader->opened.track &&
		event->opened.track > leader->opened.track &&
			    event->opened.track - leader->opened.track < info->facts[i].number[1])
			return true;
	return false;
}

/* Whether the event is sampled itself, and throttled together with its leader. */
static bool is_stopped_with(const struct stream *s, const struct stream_event *leader, const struct stream_event *event)
{
	if (event == leader || !event->sampling || event->opened.counted || !event->wanted || event->opened.muted)
		return false;
	return s->replay ? is_recorded_member(s, leader, event)
			 : event->opened.leader != NO_LEADER && &s->list.events[event->opened.leader] == leader;
}

static void take_one(struct stream *s, const struct throttle_who *who, uint32_t type, uint64_t time)
{
	struct throttle_span span;

	if (type == PERF_RECORD_THROTTLE)
		throttles_begin(&s->loss.throttles, who, time);
	else if (throttles_end(&s->loss.throttles, who, time, &span))
		lose(s, &span);
}

void throttling_take(struct stream *s, struct ring *ring, const struct stream_event *event, uint32_t type,
		     const struct pev_throttle *record)
{
	struct throttle_who who = { event, ring->cpu, record->stream_id, is_on_task(s, event) };

	if (!s->loss.throttles.times) {
		s->loss.throttles.longest = tick(s);
		s->loss.throttles.by_leaders = is_by_leaders(s);
		s->loss.reported.throttled_ns = now_ns(CLOCK_MONOTONIC);
	}
	take_one(s, &who, type, record->time);
	for (size_t i = 0; s->loss.throttles.by_leaders && i < s->list.nevents; i++) {
		who.event = &s->list.events[i];
		if (is_stopped_with(s, event, who.event))
			take_one(s, &who, type, record->time);
	}
}

void throttling_end(struct stream *s, struct ring *ring, const struct stream_event *event, uint64_t time)
{
	struct throttle_span span;

	if (throttles_sampled(&s->loss.throttles, event, ring->cpu, time, &span))
		lose(s, &span);
}

void throttling_finish(struct stream *s, uint64_t time)
{
	struct throttle_span span;

	while (throttles_finish(&s->loss.throttles, time, &span))
		lose(s, &span);
}

/* ---- what is reported --------------------------------------------------------------- */

/* Time in ns that the event was on, all tasks together. */
static uint64_t observed_live(const struct stream *s, const struct throttle_total *total)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->rings.nopened; i++) {
		struct pev_count c;

		if (s->rings.opened[i].event == total->event && s->rings.opened[i].ring->cpu == total->cpu &&
		    !pev_event_read(s->rings.opened[i].ev, &c))
			ns += c.time_running;
	}
	return ns;
}

/* Recorded of a command: how long it was on which CPU, the recording does not say. */
static bool is_of_command(const struct stream *s, const struct stream_event *event)
{
	return s->replay && event->sampling && event->sampling->attr.attr.enable_on_exec;
}

/* From the first sample of the CPU to its last. */
static uint64_t recorded_span(const struct stream *s, const struct throttle_total *total)
{
	const struct stream_span *span = &s->opts->time;

	for (size_t i = 0; i < s->replay->nqueues; i++) {
		const struct ring *ring = &s->rings.v[i];
		uint64_t from = ring->first_time > span->from ? ring->first_time : span->from;
		uint64_t to = span->to && ring->read_time > span->to ? span->to : ring->read_time;

		if (ring->cpu == total->cpu)
			return to > from ? to - from : 0;
	}
	return 0;
}

bool stream_throttled(const struct stream *s, size_t i, struct stream_throttled *throttled)
{
	const struct throttle_total *total;

	if (i >= s->loss.throttles.ntotals)
		return false;
	total = &s->loss.throttles.totals[i];
	*throttled = (struct stream_throttled){
		.event = total->event, .cpu = total->cpu, .times = total->times, .ns = total->ns,
		.bound = s->replay ? recorded_span(s, total) : observed_live(s, total),
		.on_task = s->replay ? is_of_command(s, total->event) : is_on_task(s, total->event), .at_most = total->at_most,
	};
	throttled->observed = is_of_command(s, total->event) ? 0 : throttled->bound;
	/* a span lasts to the next tick, and the task may have left the CPU by then */
	if (throttled->observed && throttled->ns > throttled->observed)
		throttled->ns = throttled->observed;
	return true;
}

uint64_t stream_throttled_times(const struct stream *s, const struct stream_event *event)
{
	struct stream_throttled t;
	uint64_t times = 0;

	for (size_t i = 0; stream_throttled(s, i, &t); i++)
		if ((!event || t.event == event) && throttle_matters(t.ns, t.bound))
			times += t.times;
	return times;
}

/* Throttled ns of all events and CPUs together. */
static uint64_t lost_ns(const struct throttles *t)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < t->ntotals; i++)
		ns += t->totals[i].ns;
	return ns;
}

void throttling_tell(struct stream *s)
{
	uint64_t now, ns, times = s->loss.throttles.times;
	char line[128];
	int n;

	if (s->opts->embedded || times == s->loss.reported.throttled)
		return;
	now = now_ns(CLOCK_MONOTONIC);
	if (now - s->loss.reported.throttled_ns < SECOND)
		return;
	ns = lost_ns(&s->loss.throttles);
	if (!throttle_matters(ns - s->loss.reported.throttled_lost, now - s->loss.reported.throttled_ns))
		return;
	s->loss.reported.throttled_lost = ns;
	n = snprintf(line, sizeof(line), "perf-prof: throttled %" PRIu64 " times: samples come too fast\n",
		     times - s->loss.reported.throttled);
	s->loss.reported.throttled = times;
	s->loss.reported.throttled_ns = now;
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}
