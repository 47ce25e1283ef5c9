/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks as a call tree, for a terminal: each function below who calls it, with the share of the samples in it and in
 * what it calls, and in it alone; the largest first.
 *
 *	total%   self%  function
 *	 99.80    0.00  main
 *	 61.20    3.10   Cart::total
 *	 58.10   58.10    Item::price
 *	 38.60   38.60   Cart::add
 *
 * Calls of a function by itself are one row with it.
 */
#ifndef REPORT_CALLTREE_H
#define REPORT_CALLTREE_H

#include "report/folded.h"

struct calltree_view {
	uint64_t whole;              /* weight that is 100 % */
	double least;                /* percent: what has less is not shown */
	size_t columns;              /* of the terminal; 0: names are whole */
	bool callers;                /* of one function, which is the root: they have no self% */
};

/* 0 or -ENOMEM. */
int calltree_print(const struct folded *f, const struct calltree_view *view, FILE *out);
#endif
