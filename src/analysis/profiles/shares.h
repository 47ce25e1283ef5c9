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

struct share {
	const char *function, *dso;  /* dso "": not known */
	uint64_t self[SHARES_SIDES]; /* weights */
	uint64_t total[SHARES_SIDES];
	/* set by shares_compare() */
	struct stats_interval change;
	double evidence;
	int sum;                     /* of the weights: 1: it grew, -1: it shrank, 0: that is not known */
	bool unmatched;              /* on one side only, for want of a name on one of them: there is no evidence */
};

struct shares;

/* Functions that are in one file before and in another after. */
struct shares_move {
	const char *from, *to;       /* files, as in struct share */
	size_t functions;            /* number of functions; 0: there is no such pair of files */
};

struct shares *shares_new(void);   /* NULL: out of memory */
void shares_free(struct shares *s);
/* Adds a frame to the present stack, innermost first; shares_end_stack() ends the stack. build: of functions that are known only
 * by address, which differ between builds; "" for all others. */
void shares_frame(struct shares *s, const char *function, const char *dso, const char *build);
void shares_end_stack(struct shares *s, enum share_side side, uint64_t weight);
/* Sets a side's weight, which may be more than that of its stacks, and number of samples. n 0: not known, so that
 * there is no evidence. */
void shares_set(struct shares *s, enum share_side side, uint64_t weight, double n);
double shares_percent(const struct shares *s, enum share_side side, uint64_t weight);
/* Compares self or total shares at a confidence of 0 to 1. Returns all functions, those with the strongest evidence
 * first; NULL: out of memory, or too many functions, here or before. */
struct share **shares_compare(struct shares *s, bool total, double confidence, size_t *n);
/* After shares_compare(): the pair of files with the most functions that are, with evidence, gone from the first and
 * new in the second. */
struct shares_move shares_moved(const struct shares *s, bool total);
#endif
