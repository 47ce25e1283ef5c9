/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who was there when: COMM and FORK records of the watched tasks, from dummy events with
 * rings of their own, so that a flood of samples never loses a name. They are taken up
 * to a time, that of the event whose task is asked for: what the task was called later
 * must not reach back.
 *
 * Names are a convenience: where the descriptors or the locked memory for them can't be
 * had, there are none, and /proc is asked.
 */
#ifndef STREAM_SIDEBAND_H
#define STREAM_SIDEBAND_H

#include "perfevent.h"
#include "stream/clock.h"
#include "stream/targets.h"

#include <stdint.h>

struct sideband;

typedef void sideband_fn(const struct pev_record *rec, void *ctx);

/* Opens and enables on the targets; times are of that clock, which outlives it. NULL if it can't be had. */
struct sideband *sideband_open(const struct targets *t, const struct perf_clock *clock,
			       bool inherit);
void sideband_free(struct sideband *b);
/* Hands over the records up to `time` (ns of the perf clock), in order of time. */
void sideband_take(struct sideband *b, uint64_t time, sideband_fn *fn, void *ctx);

#endif
