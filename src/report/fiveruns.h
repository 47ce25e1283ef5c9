/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for a shell that record five runs of each of two sides, in turns, and compare them: one run does not show how much runs of
 * the same program differ. */
#ifndef REPORT_FIVERUNS_H
#define REPORT_FIVERUNS_H

#include <stdio.h>

struct five_runs {
	const char *names[2];        /* of the files: names[0]1.suffix to names[0]5.suffix */
	const char *suffix;
	const char *compare;         /* the command that compares them, without files */
};

/* "(writes a1.data to a5.data and b1.data to b5.data here):", and a loop that still needs a line for each side, which has $i. */
void five_runs_begin(const struct five_runs *r, FILE *out);
/* The beginning of such a line. */
void five_runs_indent(FILE *out);
void five_runs_end(const struct five_runs *r, FILE *out);
#endif
