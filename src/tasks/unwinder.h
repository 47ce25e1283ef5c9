/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User call chains from the registers and the stack copied into a sample, and from the mappings of
 * the process at that time. The unwind rule for an address is looked up once and cached per set of
 * mappings.
 */
#ifndef TASKS_UNWINDER_H
#define TASKS_UNWINDER_H

#include "symbols/dwarf/unwind.h"
#include "tasks/maps.h"

struct unwinder;

struct unwinder_sample {
	struct unwind_sample stack;
	uint64_t asked;          /* bytes of stack requested per sample */
	pid_t pid;
	uint64_t time;           /* perf clock, ns; maps has taken all records up to it */
	unsigned int max;        /* frames; 0: UNWINDER_FRAMES, the most */
};
enum { UNWINDER_FRAMES = 511 };

/* maps and dsos outlive it. NULL without memory. */
struct unwinder *unwinder_new(struct maps *maps, struct dsos *dsos);
void unwinder_free(struct unwinder *u);
/* The addresses of one stack, as unwind(); asked and max of the sample are not used. */
size_t unwinder_walk(struct unwinder *u, const struct unwinder_sample *s, uint64_t *ips, size_t max, struct unwind_last *last);
/* The kernel's part of the call chain (*nr words), then PERF_CONTEXT_USER, the thread's IP and the
 * return addresses. Valid until the next call. */
const uint64_t *unwinder_chain(struct unwinder *u, const struct unwinder_sample *s,
			       const uint64_t *kernel, uint64_t *nr);
/* A whole chain by frame pointers, of *nr words, lacks the callers of functions that set up no frame. They are added, as far as
 * the copied stack has them. Valid until the next call; may be `ips`. */
const uint64_t *unwinder_mend(struct unwinder *u, const struct unwinder_sample *s, const uint64_t *ips, uint64_t *nr);
/* Number of stacks so far that are cut off because their callers lie beyond the bytes requested.
 * *all: number of stacks; *asked: the most bytes requested for one that was cut off. */
uint64_t unwinder_cut(const struct unwinder *u, uint64_t *all, uint64_t *asked);
/* Number of stacks with UNWINDER_FRAMES: their outermost callers are missing. */
uint64_t unwinder_deep(const struct unwinder *u);
/* Number of other stacks that are cut off at a stack page that is not in memory. */
uint64_t unwinder_torn(const struct unwinder *u);
#endif
