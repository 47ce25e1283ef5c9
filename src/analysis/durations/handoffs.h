/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who kept a thread waiting for a lock. Threads queue: the one that unlocks wakes the next one, which may hold the lock for a
 * moment only, although the wait was long. Whoever wakes somebody has held the lock since the wake-up before, so a wait is
 * divided among all who woke somebody at that lock while it lasted:
 *
 *	wake-ups at the lock    A           B   C
 *	                        |           |   |
 *	a wait            +-----+-----------+---+ woken by C
 *	because of           A        B       C
 */
#ifndef ANALYSIS_DURATIONS_HANDOFFS_H
#define ANALYSIS_DURATIONS_HANDOFFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct callstack;

/* A wake-up by a task. */
struct handoff {
	uint64_t time;
	pid_t tid;
	uint64_t name;               /* a number of words.h, and the stack: both only until the next table */
	struct callstack *stack;
	bool is_old;                 /* they are of an earlier table */
};

/* The last wake-ups at one object, in the order of time. Initialized by zeros. */
struct handoffs {
	struct handoff *last;
	size_t n, next, room;
};

/* False: out of memory. */
bool handoffs_add(struct handoffs *h, const struct handoff *one);
/* Calls fn for each part of a wait from `start` to `end`, except for the time after the last wake-up. */
typedef void handoffs_part_fn(void *ctx, const struct handoff *because_of, uint64_t ns);
void handoffs_divide(const struct handoffs *h, uint64_t start, uint64_t end, handoffs_part_fn *fn, void *ctx);
/* The time of the last one; 0: there is none. */
uint64_t handoffs_latest(const struct handoffs *h);
/* A table was printed. */
void handoffs_rest(struct handoffs *h);
void handoffs_free(struct handoffs *h);
#endif
