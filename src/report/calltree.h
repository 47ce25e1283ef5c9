/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks as a call tree, for a terminal: each function below its caller, the largest first, with the share of the
 * samples in the function and its callees, and in the function alone.
 *
 *	total%   self%  function
 *	 99.80    0.00  main
 *	 61.20    3.10   Cart::total
 *	 58.10   58.10    Item::price
 *	 38.60   38.60   Cart::add
 *
 * A function that calls itself, maybe through others, has one row for each path without recursion: in main > a > b > a > c, a
 * calls c, and the row of a is marked "(recursive)". The weight of a row is its own and that of the rows below it.
 */
#ifndef REPORT_CALLTREE_H
#define REPORT_CALLTREE_H

#include "report/folded.h"

struct calltree_view {
	uint64_t whole;              /* weight that is 100 % */
	double least;                /* percent: functions with less are not shown, but counted */
	const char *all_by;          /* the option that shows them: "--than 0" */
	size_t columns;              /* of the terminal; 0: names are not shortened */
	bool callers;                /* the root is a function, its callers are below it; no self% */
};

/* 0 or -ENOMEM. */
int calltree_print(const struct folded *f, const struct calltree_view *view, FILE *out);
#endif
