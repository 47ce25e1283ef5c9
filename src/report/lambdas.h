/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lambdas and classes without a name in two measurements. Their names have a place, "main::{lambda at cart.cc:5}", which
 * changes with each line that is added above it. Such names are of the same function if they are equal without their places,
 * and as many on both sides have that name: then they are in the same order of lines. Else they must be equal.
 *
 * So it is with functions of scripts, "run (job.py:12)": only their line is such a place, so that those of other files are
 * others.
 */
#ifndef REPORT_LAMBDAS_H
#define REPORT_LAMBDAS_H

#include <stdbool.h>
#include <stddef.h>

struct lambda {
	const char *name, *file;     /* functions in other files are others; "": not known */
	void *item;                  /* the caller's */
	const struct lambda *other;  /* the same function on the other side; NULL: none. Set by lambdas_pair() */
};

bool lambda_has_place(const char *name);
/* Sorts both, each without duplicates, and sets `other` in `before`. */
void lambdas_pair(struct lambda *before, size_t nbefore, struct lambda *after, size_t nafter);
/* After that, the name on the other side of a name whose file is not known; NULL: there is none. */
const char *lambda_now(const struct lambda *before, size_t nbefore, const char *name);
#endif
