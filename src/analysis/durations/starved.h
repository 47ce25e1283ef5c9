/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that still wait for a CPU at the end: their waits are in no table, as these have not ended. One that has waited since
 * before the run causes no event at all; /proc/TID/schedstat says that it has not run.
 */
#ifndef ANALYSIS_DURATIONS_STARVED_H
#define ANALYSIS_DURATIONS_STARVED_H

#include "analysis/durations/states.h"

struct starved {
	struct starved_thread *all;
	size_t n;
	uint64_t since;              /* CLOCK_MONOTONIC, ns */
};
/* Before events are opened; of no thread if the switches are of a recording or of all tasks. */
void starved_begin(struct starved *s, const struct switches *w);
void starved_free(struct starved *s);
/* Prints a line for each such thread of the targets. */
void starved_print(const struct starved *s, struct states *st);
#endif
