/* SPDX-License-Identifier: Apache-2.0 */
/* How long a run waited on each lock, file, pipe and socket, whatever thread, waker and call. */
#ifndef ANALYSIS_DURATIONS_WAITEDON_H
#define ANALYSIS_DURATIONS_WAITEDON_H

#include "analysis/durations/waiton.h"
#include "engine/analysis.h"

/* Initialized by zeros. */
struct waitedon {
	struct waitedon_object *all;
	size_t nthreads;         /* of all objects */
	uint64_t refused;        /* waits that there was no memory for */
};

/* A wait of that thread in the call that it has entered; nothing if the call has no object. */
void waitedon_add(struct waitedon *w, const struct waiton *on, pid_t tid, uint64_t ns);
/* The thread still waits: also finds out who holds its lock. */
void waitedon_add_unfinished(struct waitedon *w, const struct waiton *on, pid_t tid, uint64_t ns);
/* The table, as text or JSON; none if there was no such wait. */
void waitedon_print(struct waitedon *w, struct analysis *a);
void waitedon_free(struct waitedon *w);
#endif
