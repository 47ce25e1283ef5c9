/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of call chains, and what they say: which functions, which stacks. Folded by
 * address while samples come; names are put together at the end.
 */
#ifndef ANALYSIS_HOTSPOTS_H
#define ANALYSIS_HOTSPOTS_H

#include "analysis/analysis.h"
#include "report/folded.h"

struct hotspots {
	struct hotspot *all;
	struct task_name *names;
	struct task_name *recent;    /* of these */
	uint64_t weight, samples;    /* of all */
	uint64_t refused;            /* weight for which there was no room */
};

void hotspots_free(struct hotspots *h);   /* and empty again */
/* blocked: time off the CPU, shown apart, by who called the kernel (its own share, not the scheduler's). */
void hotspots_add(struct hotspots *h, const char *comm, struct callstack *stack, uint64_t weight,
		  bool blocked);

struct hotspots_view {
	const char *name;            /* of the tables */
	const char *what;            /* of which the weights are: "cpu-clock" */
	unsigned int functions, stacks;   /* rows of text; 0: no such table. JSON has all functions */
	bool timed;                  /* the weights are ns: a column has them */
	double least;                /* percent */
	uint64_t idle;               /* weight that is in none, to be told */
};
/* The tables, as text or JSON, up to the time `to`. */
void hotspots_print(struct analysis *a, struct hotspots *h, const struct hotspots_view *view, uint64_t to);
/* Adds all to f. */
void hotspots_fold(struct analysis *a, struct hotspots *h, struct folded *f);
/* Calls fn for each stack with its names. */
void hotspots_each(struct analysis *a, struct hotspots *h,
		   void (*fn)(void *ctx, const struct callstack *stack, uint64_t weight), void *ctx);
#endif
