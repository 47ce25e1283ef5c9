/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait when the run begins. They cause no event until they are woken, so /proc is asked whether they sleep, and
 * in which system call. Their waits are pairs that begin with the run: in truth they waited longer than is shown.
 */
#ifndef ANALYSIS_DURATIONS_EARLYWAITS_H
#define ANALYSIS_DURATIONS_EARLYWAITS_H

#include "analysis/durations/sleepers.h"
#include "analysis/durations/waiton.h"
#include "table/pairs.h"

/* Initialized by zeros. */
struct earlywaits {
	struct sleepers sleepers;
	uint64_t since;              /* the start of their pairs; 0: none */
	bool told;
	uint64_t ended;              /* waits from before the run or the recording that have ended; counted by the caller */
};

/* Opens a pair for each watched thread that sleeps, and tells `on` in which system call. now: perf clock. command: waits for
 * perf-prof to start it, which is left out; 0: none. */
void earlywaits_begin(struct earlywaits *e, const struct switches *w, struct pairs *pairs, struct waiton *on, uint64_t now,
		      pid_t command);
/* Whether that pair is of such a thread. */
bool earlywaits_has(const struct earlywaits *e, const struct open_pair *o);
/* Calls fn for each thread that has waited until now. */
void earlywaits_each(struct earlywaits *e, void (*fn)(void *ctx, pid_t tid), void *ctx);
/* Prints, once, how many have waited until now, on what, and what shows where. */
void earlywaits_print(struct earlywaits *e, struct waiton *on);
/* Prints how many have ended. */
void earlywaits_print_ended(const struct earlywaits *e, bool recorded);
void earlywaits_free(struct earlywaits *e);
#endif
