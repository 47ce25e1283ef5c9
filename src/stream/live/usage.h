/* SPDX-License-Identifier: Apache-2.0 */
/* --usage-self: what this process takes, told now and then. */
#ifndef STREAM_LIVE_USAGE_H
#define STREAM_LIVE_USAGE_H

#include <stdint.h>

struct usage {
	uint64_t told_ns, cpu_ns;      /* CLOCK_MONOTONIC and CPU time when it was told last */
};

/* Begins; or tells on stderr what was taken since, if `every_ms` have passed. 0: never. */
void usage_tell(struct usage *u, uint64_t every_ms);

#endif
