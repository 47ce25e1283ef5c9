/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/asked/rate.h"

#include "base/fault.h"
#include "base/note.h"
#include "base/units.h"
#include "perfevent/machine/kernel.h"
#include "stream/asked/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TRIES = 32 };                /* the limit may fall this many times while one event is opened */
enum { CLOCK_FREQ = 1000000000 / RATE_CLOCK_PERIOD };

int rate_parse(const char *text, uint64_t *rate)
{
	if (text && !strcmp(text, "max")) {
		*rate = RATE_MAX;
		return 0;
	}
	return !text || units_u64(text, rate) || *rate < 1 || *rate > RATE_HIGHEST ? -1 : 0;
}

char *rate_text(uint64_t rate, char *buf, size_t size)
{
	snprintf(buf, size, rate == RATE_MAX ? "max" : "%" PRIu64, rate ? rate : RATE_DEFAULT);
	return buf;
}

int rate_limit(void *ctx, uint64_t *limit)
{
	long long n;
	int rc = pev_sysctl_("perf_event_max_sample_rate", &n);

	(void)ctx;
	*limit = rc || n < 0 ? 0 : (uint64_t)n;
	return rc;
}

static uint64_t wish(uint64_t rate)
{
	uint64_t limit;

	if (rate != RATE_MAX)
		return rate ? rate : RATE_DEFAULT;
	return !rate_limit(NULL, &limit) && limit ? limit : RATE_DEFAULT;
}

void rate_set(struct stream_sampling *sampling, uint64_t rate)
{
	sampling->rate = rate;
	pev_attr_sample_freq(&sampling->attr.attr, wish(rate));
}

/*
 * The kernel allows ceil(limit / hz) samples per tick, and stops the event at the last of them
 * until the next tick (kernel/events/core.c, __perf_event_account_interrupt()): at 250 ticks a
 * second, a limit of 500 loses every other sample. One sample per tick less, at a frequency a
 * little lower than a multiple of the tick rate, is hardly ever throttled. The exception is a
 * task's event: it can get more samples in the tick in which the task is switched in.
 */
uint64_t rate_steady(uint64_t limit, uint64_t hz)
{
	const uint64_t in_a_tick = hz ? (limit + hz - 1) / hz : 0;

	return in_a_tick > 1 ? (in_a_tick - 1) * hz * 99 / 100 : limit;
}

static uint64_t ticks_a_second(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || !tick.tv_nsec)
		return 0;
	return 1000000000 / (uint64_t)tick.tv_nsec;
}

static uint64_t allowed(const struct rate_opener *opener, uint64_t limit)
{
	return opener->steady ? rate_steady(limit, ticks_a_second()) : limit;
}

/* Lowers a default frequency that the kernel would accept, but throttle. */
static void calm(const struct rate_opener *opener, struct perf_event_attr *attr)
{
	uint64_t limit;

	if (!opener->steady || opener->strict || !attr->freq || opener->limit(opener->ctx, &limit) || !limit)
		return;
	if (attr->sample_freq > allowed(opener, limit))
		attr->sample_freq = allowed(opener, limit);
}

bool rate_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool is_too_fast(const struct perf_event_attr *attr)
{
	return rate_is_clock(attr) && (attr->freq ? attr->sample_freq > CLOCK_FREQ
			: attr->sample_period && attr->sample_period < RATE_CLOCK_PERIOD);
}

int rate_open(const struct rate_opener *opener, struct perf_event_attr *attr)
{
	uint64_t limit;
	int rc = -EINVAL;

	calm(opener, attr);
	if (is_too_fast(attr) && opener->strict)
		return -ERANGE;
	if (is_too_fast(attr))
		attr->sample_period = attr->freq ? CLOCK_FREQ : RATE_CLOCK_PERIOD;
	for (int i = 0; i < TRIES; i++) {
		rc = opener->open(opener->ctx, attr);
		if (rc != -EINVAL || !attr->freq || opener->limit(opener->ctx, &limit) || !limit ||
		    attr->sample_freq <= limit)
			return rc;
		if (opener->strict)
			return -ERANGE;
		attr->sample_freq = allowed(opener, limit);
	}
	return rc;
}

/* ---- what is reported -------------------------------------------------------------- */

static const char *word(const struct perf_event_attr *attr)
{
	return attr->freq ? "freq" : "period";
}

/* The spelling of the event's frequency: -F of a source or of the run, else freq= of the event. */
static const char *spelling(const struct stream_event *event, uint64_t run)
{
	return event->sampling->source || (run && event->sampling->rate == run) ? "-F " : "freq=";
}

int rate_refuse(const struct stream_event *event, uint64_t run, struct fault *f)
{
	const struct perf_event_attr *attr = &event->sampling->attr.attr;
	const uint64_t asked = attr->sample_freq;
	uint64_t limit;

	if (is_too_fast(attr))
		return fault_set(f, EXIT_FAILED, "%s: --strict-freq: %s=%" PRIu64 " is too fast for the kernel's timer: ask for "
				 "%s=%d", event->name, word(attr), asked, word(attr),
				 attr->freq ? CLOCK_FREQ : RATE_CLOCK_PERIOD);
	rate_limit(NULL, &limit);
	return fault_set(f, EXIT_FAILED, "%s: --strict-freq: %" PRIu64 " samples a second are more than the %" PRIu64
			 " of kernel.perf_event_max_sample_rate: lower it (%s%" PRIu64 "), or, as root: sysctl "
			 "%skernel.perf_event_max_sample_rate=%" PRIu64, event->name, asked, limit, spelling(event, run), limit,
			 pev_rate_unlock_(), asked);
}

static bool is_lowered(const struct stream_event *event)
{
	return event->wanted && event->sampling && event->sampling->lowered && event->sampling->rate != RATE_MAX;
}

/* Whether an earlier event was lowered from and to the same frequency: one note is enough. */
static bool is_told(const struct stream_event *events, size_t at)
{
	const struct stream_sampling *sampling = events[at].sampling;

	for (size_t i = 0; i < at; i++)
		if (is_lowered(&events[i]) && events[i].sampling->rate == sampling->rate &&
		    events[i].sampling->attr.attr.sample_freq == sampling->attr.attr.sample_freq)
			return true;
	return false;
}

/* Whether the timer is the limit, rather than kernel.perf_event_max_sample_rate. */
static bool is_as_fast_as_the_timer(const struct perf_event_attr *attr, uint64_t limit)
{
	return !attr->freq || (rate_is_clock(attr) && attr->sample_freq == CLOCK_FREQ && limit > CLOCK_FREQ);
}

void rate_tell(const struct stream_event *events, size_t n, int verbose)
{
	for (size_t i = 0; i < n; i++) {
		const struct stream_event *event = &events[i];
		const struct perf_event_attr *attr;
		const char *unlock = pev_rate_unlock_();
		uint64_t asked, limit = 0;

		if (!is_lowered(event) || is_told(events, i))
			continue;
		attr = &event->sampling->attr.attr;
		asked = wish(event->sampling->rate);
		rate_limit(NULL, &limit);
		if (is_as_fast_as_the_timer(attr, limit)) {
			note(1, "%s: %s=%" PRIu64 " instead of %" PRIu64 ": the kernel's timer for cpu-clock and task-clock is no "
			     "faster", event->name, word(attr), (uint64_t)attr->sample_period, asked);
			continue;
		}
		note(event->sampling->rate ? 1 : verbose,
		     "%s: %" PRIu64 " samples a second instead of %" PRIu64 ": %s kernel.perf_event_max_sample_rate, %" PRIu64
		     " now%s (as root: sysctl %skernel.perf_event_max_sample_rate=%" PRIu64
		     "; then kernel.perf_cpu_time_max_percent=0 keeps it there)",
		     event->name, (uint64_t)attr->sample_freq, asked,
		     event->sampling->rate ? "the limit is" : "the default is limited by",
		     limit, *unlock ? "" : ", which the kernel lowers when interrupts take long", unlock,
		     asked > 100000 ? asked : 100000);
	}
}
