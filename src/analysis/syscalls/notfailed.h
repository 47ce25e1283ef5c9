/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes that are no failures: a call on a non-blocking descriptor is not ready, a connection is still being set up, a signal
 * interrupts a call, which is then restarted. They are counted apart, so that they do not hide what fails.
 */
#ifndef ANALYSIS_SYSCALLS_NOTFAILED_H
#define ANALYSIS_SYSCALLS_NOTFAILED_H

#include "rows/question.h"

/* Initialized by zeros. */
struct notfailed {
	struct groups all;           /* of struct notfailed_row */
};

/* Whether that error of the call is no failure. */
bool notfailed_is(int64_t call, int error);
void notfailed_add(struct notfailed *all, int64_t call, int error);
/* Prints those since the last table, if there are any: a line, or a table of JSON; not in CSV. */
void notfailed_print(struct notfailed *all, const struct question *q);
void notfailed_free(struct notfailed *all);
#endif
