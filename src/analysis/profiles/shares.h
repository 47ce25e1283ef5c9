/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shares that functions have of two profiles, and which of them differ. A function is its
 * name and its file's, without folders and without what follows ".so", so that a library's next
 * version is the same.
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
	/* by shares_compare() */
	struct stats_interval change;
	double evidence;
};

struct shares;

/* Functions that are in one file before and in another after. */
struct shares_move {
	const char *from, *to;       /* files, as in struct share */
	size_t functions;            /* how many; 0: there is no such pair of files */
};

struct shares *shares_new(void);   /* NULL without memory */
void shares_free(struct shares *s);
/* A frame of the stack that shares_end_stack() ends, innermost first. */
void shares_frame(struct shares *s, const char *function, const char *dso);
void shares_end_stack(struct shares *s, enum share_side side, uint64_t weight);
/* All that was sampled on that side, which may be more than its stacks; n: so many samples, 0: it is not
 * known how many, so that nothing is evident. */
void shares_set(struct shares *s, enum share_side side, uint64_t weight, double n);
double shares_percent(const struct shares *s, enum share_side side, uint64_t weight);
/* Compares self, or what functions and those they called have, at a confidence of 0 to 1. All of
 * them, those with the strongest evidence first; NULL without memory, here or before. */
struct share **shares_compare(struct shares *s, bool total, double confidence, size_t *n);
/* Behind it: from which file to which the most functions went, by name: as sure to be gone of the
 * one as to be new in the other. */
struct shares_move shares_moved(const struct shares *s, bool total);
#endif
