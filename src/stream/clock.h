/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf clock seen from user space. It can't be read directly; but naming a thread
 * (PR_SET_NAME, to the name it has) makes a COMM record that bears the clock's time,
 * between two readings of CLOCK_REALTIME: their middle is the moment, their distance
 * the error. The best of a few tries is taken, a few µs at worst.
 */
#ifndef STREAM_CLOCK_H
#define STREAM_CLOCK_H

#include "perfevent.h"

struct perf_clock {
	struct pev_event *ev;
	struct pev_ring *ring;
	struct pev_format format;
	int64_t offset;          /* CLOCK_REALTIME - perf clock, ns */
	uint64_t measured_at;    /* CLOCK_MONOTONIC, ns; 0 = never */
};

/* 0 or -errno; a clock that could not be opened gives the offset 0. */
int perf_clock_open(struct perf_clock *c);
void perf_clock_close(struct perf_clock *c);
/* The offset, measured again if the last time was a second ago. Only from the thread
 * that opened the clock. */
int64_t perf_clock_offset(struct perf_clock *c);
#endif
