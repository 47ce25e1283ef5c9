/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each call when it returns, as strace prints it; with --json, an object. */
#ifndef ANALYSIS_SYSCALLS_CALLLINES_H
#define ANALYSIS_SYSCALLS_CALLLINES_H

#include "rows/question.h"

struct callline {
	int64_t number, result;
	pid_t parent;            /* of the process; 0: not known */
	const char *path;        /* "": none */
	size_t second;           /* where the second path begins in it, behind ", "; 0: it has none */
	uint32_t flags;          /* openflags_code(); 0: none */
};

void calllines_print(struct question *q, const struct happening *h, const struct callline *line);
#endif
