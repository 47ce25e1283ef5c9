/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many samples a second: what was asked for, fitted to what the kernel allows.
 *
 * kernel.perf_event_max_sample_rate falls by itself while interrupts take long, and a frequency above it is
 * EINVAL. So it is read when an event is refused, not before: it may fall between two openings.
 * The clocks (cpu-clock, task-clock) are timers, which the kernel lets go off every 10000 ns at most; yet their samples
 * would weigh what was asked for.
 */
#ifndef STREAM_ASKED_RATE_H
#define STREAM_ASKED_RATE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault;
struct stream_event;
struct stream_sampling;

enum { RATE_DEFAULT = 997 };        /* a prime beside the 100, 250, 1000 of timers, so that nothing periodic hides */
enum { RATE_HIGHEST = 1000000 };    /* that may be asked for */
#define RATE_MAX UINT64_MAX         /* "max": as many as the kernel allows */
enum { RATE_CLOCK_PERIOD = 10000 }; /* ns: perf_swevent_start_hrtimer() takes max(10000, period) */
#define RATE_EXPECTED "samples a second, 1 to 1000000, or max"

/* A number of samples a second, or "max": 0, or -1. */
int rate_parse(const char *text, uint64_t *rate);
/* The same as -F takes it. Returns buf. */
char *rate_text(uint64_t rate, char *buf, size_t size);
/* The event is sampled that often; 0: the default. */
void rate_set(struct stream_sampling *sampling, uint64_t rate);

/* cpu-clock or task-clock: time itself, in ns. */
bool rate_is_clock(const struct perf_event_attr *attr);

/* Whoever opens an event. Both functions: 0 or -errno. */
struct rate_opener {
	int (*open)(void *ctx, struct perf_event_attr *attr);
	int (*limit)(void *ctx, uint64_t *limit);
	void *ctx;
	bool strict;                /* rather fails with -ERANGE than lower a frequency, or raise a period */
	bool steady;                /* nobody asked for this frequency: it stays below what is throttled */
};

/* The highest frequency that a kernel with this limit and so many timer ticks a second does not throttle steadily. */
uint64_t rate_steady(uint64_t limit, uint64_t hz);

/* Opens, with attr->sample_freq no higher, of a clock with a period no shorter than the kernel allows at that moment: 0 or
 * -errno. */
int rate_open(const struct rate_opener *opener, struct perf_event_attr *attr);
/* The kernel's limit, for an opener. */
int rate_limit(void *ctx, uint64_t *limit);

/* -ERANGE of rate_open(). Returns -1. */
int rate_refuse(const struct stream_event *event, struct fault *f);
/* Reports what was lowered: on stderr what was asked for, as a hint what is the default. */
void rate_tell(const struct stream_event *events, size_t n, int verbose);
#endif
