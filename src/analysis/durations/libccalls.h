/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the C library that make system calls with a path or an address, and probes at their entries, for kernels
 * without kprobes. The library is found in the run's processes, in containers too. The loader and programs with the library inside
 * have probes where they make such calls (callsites.h).
 */
#ifndef ANALYSIS_DURATIONS_LIBCCALLS_H
#define ANALYSIS_DURATIONS_LIBCCALLS_H

#include "rows/question.h"

/* Adds the probes to the run's events. 0, with *found: whether there are any; or -1 with f. *why: why there are none. */
int libccalls_watch(struct question *q, const char *tracefs, bool *found, struct fault *why, struct fault *f);
/* Whether calls of that number have a path or an address. */
bool libccalls_has_path(int64_t call);
#endif
