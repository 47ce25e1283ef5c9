/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tasks there were, and when: COMM, FORK and EXIT records of the watched tasks and, if user
 * addresses are sampled, their mappings (MMAP2). They come from dummy events with rings of their
 * own, so that a flood of samples never displaces a name. They are handed over before the first sample
 * with a later time: a name that the task got later must not apply to an earlier sample.
 *
 * While the stream runs, the rings are emptied into queues of bounded size. If a queue is full, its
 * records are handed over early.
 *
 * Names are optional: without enough descriptors or locked memory there is no sideband, and /proc
 * is read instead.
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
enum side_maps { SIDE_MAPS_NONE, SIDE_MAPS_CODE, SIDE_MAPS_ALL };   /* mappings for which the kernel writes records */
struct sideband;

typedef void sideband_fn(void *ctx, const struct pev_record *rec);

struct sideband_opts {
	const struct perf_clock *clock;   /* of the times; it must outlive the sideband */
	uint64_t more_sample_type;
	bool inherit;
	bool apart;                       /* inherited events stay with their task: probes in programs need it */
	enum side_maps mappings;
	bool cgroups;                     /* also CGROUP records, of new control groups */
	unsigned int pages;               /* of each ring, at most; 0: the default */
};

/* Opens and enables the events on the targets. NULL on failure. */
struct sideband *sideband_open(const struct targets *t, const struct sideband_opts *opts);
/* Whether it has that effect. If not, the kernel swaps the events of two tasks with equal ones instead of switching them,
 * but goes on to look for probes of programs in the memory of the task for which an event was made: those of the other one
 * are lost. It does not swap where an event reads counts and is inherited, which Linux before 6.12 refuses. */
bool sideband_is_apart(const struct sideband *b);
/* Pages of the smallest ring that it tries, and of its smallest ring; 0: it has none. */
enum { SIDEBAND_LEAST_PAGES = 4 };
unsigned int sideband_pages(const struct sideband *b);
/* Writes the attributes of these events to *writer, and then every record, as long as *writer is
 * not NULL: mappings with build ids (buildids; NULL: without), and each record also to jitnames (or
 * NULL). *id: the id of one of the events. False if no id could be read; then nothing is written. */
bool sideband_describe(struct sideband *b, struct perfdata_writer **writer, struct buildids *buildids,
		       struct jitnames *jitnames, uint64_t *id);
/* Opens the events of a CPU again that was offline, for which the kernel has removed them. */
void sideband_reopen(struct sideband *b, const struct targets *t, int cpu);
/* Number of descriptors that it needs. */
size_t sideband_descriptors(const struct targets *t);
void sideband_free(struct sideband *b);
/* Reports ends of perf-prof's processes to *own, as soon as they are read; *own must outlive b. */
void sideband_set_own(struct sideband *b, struct own *own);
/* Sets who gets the records from now on. *next, which must outlive b, is the time of the earliest one that waits; UINT64_MAX: none does. */
void sideband_set_consumer(struct sideband *b, sideband_fn *fn, void *ctx, uint64_t *next);
/* Moves everything the kernel has written by now from the rings to the queues. Call it before
 * delivering events that were read later. */
void sideband_collect(struct sideband *b);
/* Of inherited events, if there are records of mappings, or the user is not root; else NULL. */
struct execs;
const struct execs *sideband_execs(const struct sideband *b);
/* Whether a ring is more than a quarter full, or this is a forked child, which has no rings. */
bool sideband_is_pressed(const struct sideband *b);
/* The latest time of what was collected. */
uint64_t sideband_time(const struct sideband *b);
/* Hands over the records up to `time` (ns of the perf clock), in order of time. Not from within a lookup. */
void sideband_take(struct sideband *b, uint64_t time);
/* Passes to fn, in order of time, all records that the kernel has written by now and that wait, each once. They are handed over later
 * nevertheless: then sideband_was_peeked() is true. */
void sideband_peek(struct sideband *b, sideband_fn *fn, void *ctx);
bool sideband_was_peeked(const struct sideband *b);

#endif
