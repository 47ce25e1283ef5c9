/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf clock in user space. It cannot be read directly, but setting the name of a thread
 * (PR_SET_NAME, to the name it already has) makes the kernel write a COMM record with the clock's
 * time. CLOCK_REALTIME is read before and after: the middle of the two readings belongs to that
 * time, and the error is at most half their distance. The best of a few tries is used; its error is
 * a few µs at worst.
 */
#ifndef STREAM_LIVE_CLOCK_H
#define STREAM_LIVE_CLOCK_H

#include "perfevent.h"

/* The clock and unit of timestamps as users see them. */
enum clock_kind {
	CLOCK_PERF,              /* the kernel's default (sched_clock), ns */
	CLOCK_MONO,              /* CLOCK_MONOTONIC, by attr.clockid, ns */
	CLOCK_TSC,               /* the kernel's default, converted to TSC ticks */
};

struct perf_clock {
	struct pev_event *ev;
	struct pev_ring *ring;
	pid_t owner;             /* the thread that opened it */
	struct pev_format format;
	int64_t offset;          /* CLOCK_REALTIME - perf clock, ns */
	uint64_t measured_at;    /* CLOCK_MONOTONIC_COARSE, ns; 0: never */
	enum clock_kind kind;
	int64_t added;           /* --clock-offset */
	uint64_t zero;           /* CLOCK_TSC: time_zero, time_mult and time_shift of struct perf_event_mmap_page */
	uint32_t mult;
	uint16_t shift;
};

/* Sets the clock in the attr of an event. All events whose times are compared with each other need it. */
void perf_clock_attr(const struct perf_clock *c, struct perf_event_attr *attr);
/* Reads the conversion between TSC and clock from the ring's page; the clock must be open. 0 or
 * -EOPNOTSUPP. */
int perf_clock_learn_tsc(struct perf_clock *c);
/* Converts the time of a sample to what users see. */
uint64_t perf_clock_show(const struct perf_clock *c, uint64_t time);

/* Opens a clock of kind c->kind. 0 or -errno; without an open clock the offset is an estimate. */
int perf_clock_open(struct perf_clock *c);
void perf_clock_close(struct perf_clock *c);
/* The offset, measured again if the last measurement is more than a second old. In other threads than the one that
 * opened the clock, and in forked children, it is the last one, or an estimate. */
int64_t perf_clock_offset(struct perf_clock *c);
#endif
