/* SPDX-License-Identifier: Apache-2.0 */
/* How long a run, and each interval, waited on each lock, file, pipe and socket, whatever thread and call, and because of which task. */
#ifndef ANALYSIS_DURATIONS_WAITEDON_H
#define ANALYSIS_DURATIONS_WAITEDON_H

#include "analysis/durations/handoffs.h"
#include "analysis/durations/waiton.h"
#include "engine/analysis.h"
#include "table/groups.h"

/* Initialized by zeros. */
struct waitedon {
	struct groups all;       /* of struct waitedon_object */
	size_t nthreads;         /* of all objects, those that wait and those that let them wait */
	uint64_t refused;        /* waits that there was no memory for */
};

/* The thread begins to wait: waiton_wait(). If it is for a lock with a timeout, its holder is looked up: it may
 * wake nobody. */
void waitedon_begin(struct waiton *on, pid_t tid, uint64_t time);
/* The thread has waited for long: looks up the holder of its lock, for a wait that only the end of the program will end. */
void waitedon_look(struct waiton *on, pid_t tid);
/* A wait of that thread in the call that it has entered. waker: the task that ended it, or NULL: none did. The object, whose
 * `handoffs` tell whom the thread waited for; NULL: the call has none. */
struct waitedon_wait {
	pid_t tid;
	uint64_t start, duration;
	const struct handoff *waker;
	const char *comm;        /* the waker's name */
	uint64_t on;             /* a number of words.h, until the next table */
	bool timed_out;
	bool died;               /* the thread ended with it: the wait never ended by itself */
};
struct handoffs *waitedon_add(struct waitedon *w, const struct waiton *on, const struct waitedon_wait *wait);
/* The thread still waits: also finds out who holds its lock. The interval has the wait so far; the run has it only at its end. */
void waitedon_add_unfinished(struct waitedon *w, const struct waiton *on, const struct waitedon_wait *wait, bool at_end);
/* Learns the kinds of all waits since the last table, by their numbers. */
void waitedon_learn(struct waitedon *w, const struct waitkinds *kinds);
/* A table was printed: names and stacks of handoffs are no longer good, and an interval begins. */
void waitedon_rest(struct waitedon *w);
/* The table, as text or JSON; none if there was no such wait. */
void waitedon_print_interval(struct waitedon *w, struct analysis *a);
void waitedon_print_run(struct waitedon *w, struct analysis *a);
void waitedon_free(struct waitedon *w);
#endif
