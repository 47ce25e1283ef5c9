/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling frequency: fits what the user asked for to what the kernel allows.
 *
 * kernel.perf_event_max_sample_rate falls by itself when interrupts take long, and the kernel
 * refuses a higher frequency with EINVAL. The limit is read after such a refusal, not before
 * opening, because it may fall between two openings.
 *
 * The clocks (cpu-clock, task-clock) are timers that the kernel fires every 10000 ns at most. With
 * a shorter period the kernel would still give each sample the weight that was asked for, so the
 * period is raised.
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

enum { RATE_DEFAULT = 997 };        /* a prime, apart from the usual 100, 250 and 1000 Hz, so that periodic work is
				     * not sampled in step */
enum { RATE_HIGHEST = 1000000 };    /* highest frequency that users can ask for */
#define RATE_MAX UINT64_MAX         /* "max": the kernel's limit */
enum { RATE_CLOCK_PERIOD = 10000 }; /* ns: perf_swevent_start_hrtimer() takes max(10000, period) */
#define RATE_EXPECTED "samples a second, 1 to 1000000, or max"

/* Parses samples a second, or "max". 0, or -1. */
int rate_parse(const char *text, uint64_t *rate);
/* The reverse: text that -F accepts. Returns buf. */
char *rate_text(uint64_t rate, char *buf, size_t size);
/* Sets the event's frequency, in samples a second; 0: the default. */
void rate_set(struct stream_sampling *sampling, uint64_t rate);

/* cpu-clock or task-clock, whose periods are ns. */
bool rate_is_clock(const struct perf_event_attr *attr);

/* How to open the event. Both functions return 0 or -errno. */
struct rate_opener {
	int (*open)(void *ctx, struct perf_event_attr *attr);
	int (*limit)(void *ctx, uint64_t *limit);
	void *ctx;
	bool strict;                /* fail with -ERANGE instead of lowering a frequency or raising a period */
	bool steady;                /* the default frequency: stay below what the kernel throttles */
};

/* The highest frequency that a kernel with this limit and `hz` timer ticks a second does not
 * throttle regularly. */
uint64_t rate_steady(uint64_t limit, uint64_t hz);

/* Opens the event after lowering attr->sample_freq, or raising a clock's period, to what the kernel
 * allows at that moment. 0 or -errno. */
int rate_open(const struct rate_opener *opener, struct perf_event_attr *attr);
/* Reads kernel.perf_event_max_sample_rate; the usual rate_opener.limit. */
int rate_limit(void *ctx, uint64_t *limit);

/* Explains -ERANGE of rate_open(). run: -F of the run, or 0. Returns -1. */
int rate_refuse(const struct stream_event *event, uint64_t run, struct fault *f);
/* Reports frequencies that were lowered: a warning if the user asked for them, a hint for the default. */
void rate_tell(const struct stream_event *events, size_t n, int verbose);
#endif
