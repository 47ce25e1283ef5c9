/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits by the stack that waited and the stack that woke it: the longest as text, and all as folded stacks for a picture.
 * There the waker stands on the waiter, upside down, so that the function that wakes is on the one that waits:
 *
 *	waker's main
 *	pthread_mutex_unlock
 *	[woken by waker]
 *	pthread_mutex_lock
 *	waiter's main
 *	waiter
 *
 * by_object: the lock or file that was waited on is at the bottom, below all its waiters.
 */
#ifndef ANALYSIS_DURATIONS_WAITSTACKS_H
#define ANALYSIS_DURATIONS_WAITSTACKS_H

#include "analysis/durations/waitkind.h"
#include "engine/analysis.h"
#include "report/folded.h"

/* Two tasks and, with --on, the call and its lock or file, as numbers of words.h; and the stacks of both, which may be NULL. */
struct waitstacks_key {
	uint64_t waiter, waker, on;
	uint64_t object;             /* 1: `on` is a lock, file, pipe or socket; 0: only a call, or nothing */
	struct callstack *waits, *wakes;
};

/* Initialized by zeros. */
struct waitstacks {
	struct waitstack *all;
	uint64_t total;              /* ns */
	uint64_t refused;            /* ns that there was no memory for */
	const struct waitkinds *kinds;   /* of the last waitstacks_find_kinds(); NULL: none */
	bool because_of;             /* set by the caller: wakers are those that a thread waited for, not only those that woke it */
};

struct words;

/* Names all stacks, and says what kind each `on` is, which is a number of words.h. */
void waitstacks_find_kinds(struct analysis *a, struct waitstacks *w, struct waitkinds *kinds);
void waitstacks_add(struct waitstacks *w, const struct waitstacks_key *key, uint64_t ns);
/* Prints the n longest without sleeps, or all (--full). */
void waitstacks_print(struct analysis *a, struct waitstacks *w, const struct words *words, unsigned int n);
/* All of them as a JSON table with the stacks as folded text, outermost function first. */
void waitstacks_json(struct analysis *a, struct waitstacks *w, const struct words *words);
/* by_object: without sleeps. */
void waitstacks_fold(struct analysis *a, struct waitstacks *w, const struct words *words, bool by_object, struct folded *f);
void waitstacks_free(struct waitstacks *w);
#endif
