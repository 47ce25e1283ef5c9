/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tasks had the CPU while others waited for it: the runs on each CPU between two switches, as far as they overlap
 * with the waits that end there.
 */
#ifndef ANALYSIS_DURATIONS_CULPRITS_H
#define ANALYSIS_DURATIONS_CULPRITS_H

#include "rows/distributions.h"
#include "table/words.h"

/* Initialized by zeros. */
struct culprits {
	bool live;                   /* tasks have command lines: the events are not recorded */
	struct cpu_runs *cpus;
	size_t ncpus;
	struct distributions rows;   /* by the task's name and id; `name`: its command line, or "" */
	struct words words;
};

/* A switch: that task leaves the CPU. */
void culprits_switch(struct culprits *c, const struct analysis_sample *s, pid_t tid, const char comm[16]);
/* The sample ends a wait since `start` (perf clock, ns) for its CPU; its own switch comes first. Calls fn for each task that ran
 * meanwhile, with its share of the wait: "[idle]" has tid 0, and so has "[not known]", such as after a loss of events. */
typedef void culprits_fn(void *ctx, pid_t tid, const char *comm, uint64_t ns);
void culprits_each(struct culprits *c, const struct analysis_sample *s, uint64_t start, culprits_fn *fn, void *ctx);
/* Adds the shares that culprits_each() finds to `rows`. */
void culprits_waited(struct culprits *c, const struct analysis_sample *s, uint64_t start);
void culprits_lost(struct culprits *c, const struct stream_loss *loss);
/* The rows as an array, the largest total first; NULL: out of memory. */
struct json_object *culprits_json(struct culprits *c);
/* Prints the table as text, if it has rows (not with --json), and begins the next one. from..to: perf clock. */
void culprits_print(struct culprits *c, struct analysis *a, uint64_t from, uint64_t to);
void culprits_free(struct culprits *c);
#endif
