/* SPDX-License-Identifier: Apache-2.0 */
/* --usage-self: CPU time of this process and its helpers, and memory of this process, reported from time to time. */
#ifndef STREAM_LIVE_USAGE_H
#define STREAM_LIVE_USAGE_H

#include <stdint.h>

struct own;

struct usage {
	uint64_t told_ns, cpu_ns;      /* CLOCK_MONOTONIC and CPU time at the last report */
};

/* The first call begins. Later ones report on stderr what was used since the last report, if at
 * least `every_ms` milliseconds have passed. every_ms == 0: never. */
void usage_tell(struct usage *u, struct own *own, uint64_t every_ms);

#endif
