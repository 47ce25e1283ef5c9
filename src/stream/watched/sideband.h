/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who was there when: COMM, FORK and EXIT records of the watched tasks and, where
 * addresses of user space are asked for, what they map (MMAP2), from dummy events with
 * rings of their own, so that a flood of samples never loses a name. They are handed over
 * up to a time, that of the event whose task is asked for: what the task was called later
 * must not reach back.
 *
 * The rings are emptied while the stream runs, whether somebody asks or not, into queues
 * of bounded size; what finds no room there is handed over ahead of time.
 *
 * Names are a convenience: where the descriptors or the locked memory for them can't be
 * had, there are none, and /proc is asked.
 */
#ifndef STREAM_WATCHED_SIDEBAND_H
#define STREAM_WATCHED_SIDEBAND_H

#include "perfevent.h"
#include "stream/live/clock.h"
#include "stream/watched/targets.h"

#include <stdint.h>

struct buildids;
struct jitnames;
struct own;
struct perfdata_writer;
enum side_maps { SIDE_MAPS_NONE, SIDE_MAPS_CODE, SIDE_MAPS_ALL };   /* mappings that are told */
struct sideband;

typedef void sideband_fn(void *ctx, const struct pev_record *rec);

/* Opens and enables on the targets; times are of that clock, which outlives it. NULL if it
 * can't be had. */
struct sideband *sideband_open(const struct targets *t, const struct perf_clock *clock,
			       uint64_t more_sample_type, bool inherit, enum side_maps mappings);
/* Says to *writer what these events are, and records there as long as *writer is set, mappings
 * with build ids (NULL: without); jitnames (or NULL) sees them. *id: that of one of them. False if there is none. */
bool sideband_describe(struct sideband *b, struct perfdata_writer **writer, struct buildids *buildids,
		       struct jitnames *jitnames, uint64_t *id);
/* How many descriptors that takes. */
size_t sideband_descriptors(const struct targets *t);
void sideband_free(struct sideband *b);
/* Who of ours ends is known as soon as it is collected: *own lives as long as b. */
void sideband_set_own(struct sideband *b, struct own *own);
/* Whom the records are handed to, from now on. */
void sideband_set_consumer(struct sideband *b, sideband_fn *fn, void *ctx);
/* Takes what the kernel has written by now out of the rings. To be called before events
 * that were read later are delivered. */
void sideband_collect(struct sideband *b);
/* Whether a ring is a quarter full, or this is a forked child, which has none. */
bool sideband_is_pressed(const struct sideband *b);
/* Hands over the records up to `time` (ns of the perf clock), in order of time. */
void sideband_take(struct sideband *b, uint64_t time);

#endif
