/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of call chains, and what they say: which functions, which stacks. Folded by
 * address while samples come; names are put together at the end.
 */
#ifndef ANALYSIS_PROFILES_HOTSPOTS_H
#define ANALYSIS_PROFILES_HOTSPOTS_H

#include "engine/analysis.h"
#include "report/folded.h"

/* --inline-rows, of a struct analysis_opts. */
enum { HOTSPOTS_NOPTS = 1 };
extern const struct opt hotspots_opts[HOTSPOTS_NOPTS];

struct hotspots {
	struct hotspot *all;
	struct task_name *names;
	struct task_name *recent;    /* of these */
	uint64_t weight, samples;    /* of all */
	double squares;              /* of the samples' weights, summed up */
	size_t nmore;                /* set before the first one: counts of other events beside each weight */
	uint64_t blocked;            /* of the weight: off the CPU */
	uint64_t refused;            /* weight for which there was no room, or that has no stack */
	uint64_t refused_blocked;    /* of that, time off CPUs */
};

void hotspots_free(struct hotspots *h);   /* and empty again */
/* blocked: time off the CPU, shown apart, by who called the kernel (its own share, not the scheduler's). */
void hotspots_add(struct hotspots *h, const char *comm, struct callstack *stack, uint64_t weight,
		  bool blocked);
/* That a task of this name slept, and nobody knows where. */
void hotspots_add_asleep(struct hotspots *h, const char *comm, uint64_t ns);
/* The same of a group's sample: the weight, then h->nmore counts of other events; all may be 0. */
void hotspots_add_counts(struct hotspots *h, const char *comm, struct callstack *stack, const uint64_t *counts);

/* That tasks of this name were on a CPU for so long. */
void hotspots_measure(struct hotspots *h, const char *comm, uint64_t ns);
/* Before the tables: what isn't blocked becomes the time that was measured. That of a name is spread over
 * its samples, by their weights; of a name without samples it is a row of its own. Kernels before 5.16 don't
 * measure real-time tasks: their samples weigh what those of others do. */
void hotspots_spread(struct hotspots *h);

/* One event's count by another's: "insn per cycle". 0 is what the weights are of, then the others. */
struct hotspots_ratio {
	size_t of, by;
	double factor;
	const char *unit;            /* "insn per cycle", "% of all branches" */
};

struct hotspots_view {
	const char *name;            /* of the tables */
	const char *what;            /* of which the weights are: "cpu-clock" */
	const char *sampled;         /* the same, and how often: "cpu-clock, 997 Hz" */
	const struct stream_event *event;   /* whose samples they are; NULL: of several */
	uint64_t freq, period;       /* samples a second, or events between two; 0: not so */
	unsigned int functions, stacks;   /* rows of text; 0: no such table. JSON has all functions */
	bool timed;                  /* the weights are ns, on and off CPUs: a column has them */
	uint64_t unseen;             /* stretches on CPUs that could not be measured */
	double least;                /* percent */
	uint64_t idle;               /* weight that is in none, to be told */
	bool has_outside;            /* some of it may be of tasks outside of this PID namespace */
	uint64_t skid;               /* samples that are in the kernel, though the event is of users alone */
	bool counted;                /* the weights are counts, whose sum is reported: */
	uint64_t count;              /* of all, idle CPUs included */
	bool in_ns;                  /* it is a time */
	const char *chainless;       /* an event whose samples lack the call chains that blocked time needs; or NULL */
	bool placeless;              /* samples don't say where they were */
	const char *const *more;     /* events, as many as hotspots.nmore */
	const uint64_t *more_counts; /* what each counted in all but idle CPUs, */
	const uint64_t *more_idle;   /* and in these */
	const struct hotspots_ratio *ratios;
	size_t nratios;
};
/* The tables, as text or JSON, up to the time `to`. */
void hotspots_print(struct analysis *a, struct hotspots *h, const struct hotspots_view *view, uint64_t to);
/* Adds all to f. event: what each weighs a number of; NULL: they are not samples of one event. */
void hotspots_fold(struct analysis *a, struct hotspots *h, struct folded *f, const char *event);
/* Calls fn for each stack with its names. */
void hotspots_each(struct analysis *a, struct hotspots *h,
		   void (*fn)(void *ctx, const struct callstack *stack, uint64_t weight), void *ctx);
#endif
