/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shares of functions in two profiles, and which of them differ. A function is identified by
 * its name and its file's name, without folders and without the version after ".so", so that a
 * library's functions are compared across versions.
 */
#ifndef ANALYSIS_PROFILES_SHARES_H
#define ANALYSIS_PROFILES_SHARES_H

#include "report/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum share_side { SHARES_BEFORE, SHARES_AFTER, SHARES_SIDES };

/* A weight in each recording of a side: how much it differs from one to the next. */
struct share_runs {
	uint64_t ended;              /* the weight of those that have ended */
	double squares, products;    /* sums of the square of the weight, and of its product with the recording's weight */
};

struct share {
	const char *function, *dso;  /* dso "": not known */
	uint64_t self[SHARES_SIDES]; /* weights, of all recordings of a side */
	uint64_t total[SHARES_SIDES];
	struct share_runs self_runs[SHARES_SIDES], total_runs[SHARES_SIDES];
	/* set by shares_compare() */
	struct stats_interval change;   /* of the share */
	struct stats_interval sum;   /* likewise of the weight, the mean of all recordings, if weights are compared; else 0 */
	double evidence;             /* of a change of what is compared */
	double share_evidence;       /* of a change of the share */
	bool on_both;                /* known to be in both programs, also without samples */
	bool not_compared;           /* there is no evidence, whatever the numbers: unmatched, or only on_both */
	bool own;                    /* of the program or its libraries; not of the kernel or the C library, which each program has */
	bool unmatched;              /* on one side only, for want of a name on one of them: there is no evidence */
};

struct shares;

/* Functions that are in one file before and in another after. */
enum { SHARES_MOVES = 64 };
struct shares_move {
	const char *from, *to;       /* files, as in struct share */
	size_t functions;            /* number of functions; 0: there is no such pair of files */
	uint64_t self[SHARES_SIDES]; /* shares_match_files(): their weights */
};

struct shares *shares_new(void);   /* NULL: out of memory */
void shares_free(struct shares *s);
/* Adds a frame to the present stack, innermost first; shares_end_stack() ends the stack. build: of functions that are known only
 * by address, which differ between builds; "" for all others. own: see struct share. */
void shares_frame(struct shares *s, const char *function, const char *dso, const char *build, bool own);
void shares_end_stack(struct shares *s, enum share_side side, uint64_t weight);
/* The stacks since the last call are those of a recording of a side. Its weight may be more than that of its stacks. */
void shares_end_run(struct shares *s, enum share_side side, uint64_t weight);
/* What all recordings of a side have together. */
struct shares_side {
	uint64_t weight;
	double missing;              /* weight that was not sampled, at most: any function may have had it */
	double n;                    /* number of samples; 0: not known, so that there is no evidence */
	bool exact;                  /* no samples, but times, which differ only from run to run */
};
void shares_set(struct shares *s, enum share_side number, const struct shares_side *side);
double shares_percent(const struct shares *s, enum share_side side, uint64_t weight);
/* Whether the share changed with evidence as the weight did. */
bool shares_agree(const struct share *share);
/* Before shares_compare(): files that are on one side only and have functions of the same names, such as a program that was
 * renamed. Their functions are compared by name, and shown in the file of AFTER. Returns the number of pairs. */
size_t shares_match_files(struct shares *s, struct shares_move pairs[SHARES_MOVES]);
struct shares_terms {
	bool total;                  /* of total weights; else of self weights */
	bool weights;                /* these are the time of the same work: they are compared; else the shares */
	double confidence;           /* 0 to 1 */
};
/* Returns all functions, those with the strongest evidence first; of total weights, the program's own that changed before others
 * that did, which mostly have the difference of what called them, or of all. NULL: out of memory, or too many functions, here or before. */
struct share **shares_compare(struct shares *s, const struct shares_terms *terms, size_t *n);
/* After that, the number of functions whose name has another line after, and which were compared by the rest of it. */
size_t shares_at_other_places(const struct shares *s);
/* Whether intervals are those of the differences from run to run: of a side, there are several recordings. */
bool shares_have_spread(const struct shares *s);
/* Whether there are several of each side: else there is no evidence of a change of times, which have no samples. */
bool shares_have_several(const struct shares *s);
/* The difference of the weights of the sides, the mean of all recordings, whose number of samples is known. */
struct stats_interval shares_compare_sides(const struct shares *s, double confidence);
#endif
