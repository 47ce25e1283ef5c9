/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that sleep during the whole run: they cause no sched_switch event. The kernel counts how often each thread
 * has switched (/proc/TID/status): one that has not since the run began, and sleeps, has slept all the time.
 */
#ifndef ANALYSIS_DURATIONS_SLEEPERS_H
#define ANALYSIS_DURATIONS_SLEEPERS_H

#include "analysis/durations/switches.h"

struct sleepers {
	struct sleeper *all;
	size_t n;
};
/* Of all threads that are watched by now, before events are open; of a recording, and of everybody, none. */
void sleepers_begin(struct sleepers *s, const struct switches *w);
void sleepers_free(struct sleepers *s);
/* Calls fn for each that has slept until now. */
void sleepers_each(struct sleepers *s, void (*fn)(void *ctx, pid_t tid, enum task_state state), void *ctx);
#endif
