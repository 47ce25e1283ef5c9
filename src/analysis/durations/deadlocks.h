/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for each other's locks, in a circle. A circle counts only if two looks at all of its threads find the same
 * locks and holders, and no thread has run in between: then all of it was true at the same time.
 */
#ifndef ANALYSIS_DURATIONS_DEADLOCKS_H
#define ANALYSIS_DURATIONS_DEADLOCKS_H

#include "table/pairs.h"

#include <stddef.h>
#include <sys/types.h>

/* Initialized by zeros. */
struct deadlocks {
	pid_t *told;             /* threads of circles that have been printed */
	size_t n;
	char *lines;             /* not printed yet; NULL: none */
	size_t bytes;
};

/* Takes note if that thread is in such a circle, a line, once for each circle: "deadlock: writer (12) and reader (13) wait for each
 * other's locks". Waits with a timeout are in none. */
void deadlocks_look(struct deadlocks *d, pid_t tid);
/* Looks at all threads in `waits` (NULL: none) as deadlocks_look() does, and prints the lines since the last table. */
void deadlocks_print(struct deadlocks *d, const struct pairs *waits);
void deadlocks_free(struct deadlocks *d);
#endif
