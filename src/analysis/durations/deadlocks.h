/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for each other's locks, in a circle. A circle counts only if two looks at all of its threads find the same
 * locks and holders, and no thread has run in between: then all of it was true at the same time.
 */
#ifndef ANALYSIS_DURATIONS_DEADLOCKS_H
#define ANALYSIS_DURATIONS_DEADLOCKS_H

#include <stddef.h>
#include <sys/types.h>

/* Initialized by zeros. */
struct deadlocks {
	pid_t *told;             /* threads of circles that have been printed */
	size_t n;
};

/* Prints a line if that thread is in such a circle, once for each circle: "deadlock: writer (12) and reader (13) wait for each
 * other's locks". Waits with a timeout are in none. */
void deadlocks_print(struct deadlocks *d, pid_t tid);
void deadlocks_free(struct deadlocks *d);
#endif
