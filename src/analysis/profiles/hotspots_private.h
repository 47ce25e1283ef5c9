/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a profile, for the files that fill and print them. */
#ifndef ANALYSIS_PROFILES_HOTSPOTS_PRIVATE_H
#define ANALYSIS_PROFILES_HOTSPOTS_PRIVATE_H

#include "analysis/profiles/hotspots.h"
#include "base/hash.h"

struct hotspot_key {
	const char *comm;            /* the text of a task_name */
	struct callstack *stack;     /* NULL: the place is not known */
	uint64_t blocked;
	int64_t pid, cpu;            /* 0, unless rows are by these */
};


struct hotspot {
	struct hotspot_key key;
	uint64_t weight, samples;
	UT_hash_handle hh;
	uint64_t more[];             /* hotspots.nmore counts */
};

/* The stack; if it is not known, one frame: "[not sampled]" or "[asleep throughout]". */
const struct callstack *hotspot_stack(const struct hotspot *spot);
/* callstacks_expand() for all stacks. */
void hotspots_expand(struct analysis *a, struct hotspots *h);
#endif
