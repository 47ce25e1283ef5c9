/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf clock seen from user space. It can't be read directly; but naming a thread
 * (PR_SET_NAME, to the name it has) makes a COMM record that bears the clock's time,
 * between two readings of CLOCK_REALTIME: their middle is the moment, their distance
 * the error. The best of a few tries is taken, a few µs at worst.
 */
#ifndef STREAM_LIVE_CLOCK_H
#define STREAM_LIVE_CLOCK_H

#include "perfevent.h"

/* What timestamps are told in. */
enum clock_kind {
	CLOCK_PERF,              /* the kernel's own (sched_clock), as it is */
	CLOCK_MONO,              /* CLOCK_MONOTONIC, which the kernel stamps (attr.clockid) */
	CLOCK_TSC,               /* the kernel's own, converted to ticks of the TSC */
};

struct perf_clock {
	struct pev_event *ev;
	struct pev_ring *ring;
	struct pev_format format;
	int64_t offset;          /* CLOCK_REALTIME - perf clock, ns */
	uint64_t measured_at;    /* CLOCK_MONOTONIC, ns; 0 = never */
	enum clock_kind kind;
	int64_t added;           /* --clock-offset */
	uint64_t zero;           /* CLOCK_TSC: the page's time_zero, _mult and _shift */
	uint32_t mult;
	uint16_t shift;
};

/* For the attr of every event whose times are compared with each other. */
void perf_clock_attr(const struct perf_clock *c, struct perf_event_attr *attr);
/* Learns the TSC's relation to the clock, which has to be open. 0 or -EOPNOTSUPP. */
int perf_clock_learn_tsc(struct perf_clock *c);
/* A sample's time as users see it. */
uint64_t perf_clock_show(const struct perf_clock *c, uint64_t time);

/* Opens a clock of c->kind. 0 or -errno; one that could not be opened gives the offset 0. */
int perf_clock_open(struct perf_clock *c);
void perf_clock_close(struct perf_clock *c);
/* The offset, measured again if the last time was a second ago. Only from the thread
 * that opened the clock. */
int64_t perf_clock_offset(struct perf_clock *c);
#endif
