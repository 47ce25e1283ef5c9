/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of threads whose time on CPUs since the stack before is not known yet: the kernel counts it at timer ticks, and a thread may be
 * sampled several times between two of them. When the time is known, it is divided among the stacks since then. Stacks of an earlier turn
 * get none: the thread may have waited for a CPU then.
 */
#ifndef ANALYSIS_PROFILES_PENDING_H
#define ANALYSIS_PROFILES_PENDING_H

#include "engine/callstacks.h"
#include "table/groups.h"

enum { PENDING_MOST = 32, PENDING_THREADS = 8192 };   /* PENDING_MOST: the last ones are kept; the others get no time */

/* Keeps a stack until the time is known. turns: how often the thread got a CPU. all: zeroed at first; groups_free() forgets
 * all, before stacks are dropped. */
void pending_add(struct groups *all, pid_t pid, pid_t tid, uint64_t turns, struct callstack *stack);
/* Calls `take` for each stack that the thread had in the same turn, with its part of the time, and forgets them. Returns the rest, the
 * part of the newest stack, which was not added. */
uint64_t pending_share(const struct groups *all, pid_t pid, pid_t tid, uint64_t turns, uint64_t ns,
		       void (*take)(void *ctx, struct callstack *stack, uint64_t ns), void *ctx);
#endif
