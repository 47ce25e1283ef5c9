/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that sleep during the whole run cause no sched_switch event. The kernel counts the context switches of each
 * thread (/proc/TID/status): if a sleeping thread has the same count as at the beginning, it has slept all the time.
 */
#ifndef ANALYSIS_DURATIONS_SLEEPERS_H
#define ANALYSIS_DURATIONS_SLEEPERS_H

#include "analysis/durations/switches.h"

struct sleepers {
	struct sleeper *all;
	size_t n;
};
/* A thread's state, "R" or another letter, and the number of its context switches. False: it does not exist. */
bool sleepers_status(pid_t tid, char *letter, uint64_t *switches);
/* Takes the counts of all threads in w, before events are opened; of none if w is for a recording or all tasks. */
void sleepers_begin(struct sleepers *s, const struct switches *w);
/* Takes the count of one more thread. */
void sleepers_add(struct sleepers *s, pid_t tid);
void sleepers_free(struct sleepers *s);
/* Calls fn for each thread that has slept until now. */
void sleepers_each(struct sleepers *s, void (*fn)(void *ctx, pid_t tid, enum task_state state), void *ctx);
#endif
