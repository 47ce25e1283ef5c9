/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a profile, for the files that fill and print them. */
#ifndef ANALYSIS_PROFILES_HOTSPOTS_PRIVATE_H
#define ANALYSIS_PROFILES_HOTSPOTS_PRIVATE_H

#include "analysis/profiles/hotspots.h"
#include "base/hash.h"

struct hotspot_key {
	const char *comm;            /* a task_name's text */
	struct callstack *stack;     /* NULL: no sample says where it was */
	uint64_t blocked;
};

struct hotspot {
	struct hotspot_key key;
	uint64_t weight, samples;
	UT_hash_handle hh;
	uint64_t more[];             /* as many as hotspots.nmore */
};

/* Its frames; where nothing is known, one that says so. */
const struct callstack *hotspot_stack(const struct hotspot *spot);
/* Looks up what compilers have put into others, of all. */
void hotspots_expand(struct analysis *a, struct hotspots *h);
#endif
