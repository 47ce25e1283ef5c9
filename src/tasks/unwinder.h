/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers of user functions, by the registers and the stack of a sample and by what its
 * process had mapped at that time. How to come from an address to its caller is looked up
 * once, and kept for all that have the same mapped.
 */
#ifndef TASKS_UNWINDER_H
#define TASKS_UNWINDER_H

#include "symbols/dwarf/unwind.h"
#include "tasks/maps.h"

struct unwinder;

struct unwinder_sample {
	struct unwind_sample stack;
	uint64_t asked;          /* bytes of stack that a sample has at most */
	pid_t pid;
	uint64_t time;           /* perf clock, ns: records up to it have been taken by maps */
	unsigned int max;        /* frames; 0: as many as the kernel has */
};

/* maps and dsos outlive it. NULL without memory. */
struct unwinder *unwinder_new(struct maps *maps, struct dsos *dsos);
void unwinder_free(struct unwinder *u);
/* The kernel's words of a chain (*nr of them) with the user's behind them: PERF_CONTEXT_USER,
 * where the thread was, where each call returns to. Valid until the next call. */
const uint64_t *unwinder_chain(struct unwinder *u, const struct unwinder_sample *s,
			       const uint64_t *kernel, uint64_t *nr);
/* Of the stacks so far, *all, how many are cut off: their callers lie behind the bytes that were asked for,
 * at most *asked. */
uint64_t unwinder_cut(const struct unwinder *u, uint64_t *all, uint64_t *asked);
/* And how many others are cut off at a page of the stack that isn't in memory. */
uint64_t unwinder_torn(const struct unwinder *u);
#endif
