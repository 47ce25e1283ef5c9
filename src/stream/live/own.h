/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof's own processes: this one and those that it starts for itself. What they do would feed
 * the events of all CPUs, so it is counted and not delivered. When one has ended, its number may become a stranger's.
 */
#ifndef STREAM_LIVE_OWN_H
#define STREAM_LIVE_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { OWN_MAX = 64, OWN_WORDS = 64 };

struct own_process {
	pid_t pid;
	uint64_t until;             /* perf clock; UINT64_MAX: it runs */
};

struct own {
	bool counts;                /* else nobody is own */
	struct own_process all[OWN_MAX];   /* this process first, then the newest of the others */
	unsigned int n;
	uint64_t bits[OWN_WORDS];   /* of their pids, by their last 12 bits: who has none is not own */
};

/* This process alone. */
void own_begin(struct own *o, bool counts);
void own_add(struct own *o, pid_t pid);
/* The process of that number ended at `time`. */
void own_ended(struct own *o, uint32_t pid, uint64_t time);
/* Whether that was one at `time`. */
bool own_has(const struct own *o, uint32_t pid, uint64_t time);

/* Most are not: known by one look. */
static inline bool own_may_have(const struct own *o, uint32_t pid)
{
	return o->bits[pid >> 6 & (OWN_WORDS - 1)] >> (pid & 63) & 1;
}
#endif
