/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the C library that make system calls with a path or an address, and probes at their entries, for kernels
 * without kprobes. The library is found in the run's processes, in containers too. The loader, and programs with the library
 * inside or in Go, have probes where they make such calls (callsites.h). Where a function is simple enough, its probe is at a later
 * instruction, which costs less (probeplaces.h).
 */
#ifndef ANALYSIS_SYSCALLS_LIBCCALLS_H
#define ANALYSIS_SYSCALLS_LIBCCALLS_H

#include "analysis/syscalls/callset.h"
#include "rows/question.h"

#define LIBCCALLS_ALIAS "path"   /* the events' names are this and a number; of probes behind the system call: */
#define LIBCCALLS_ALIAS_AFTER LIBCCALLS_ALIAS "after"
enum { LIBCCALLS_FILES = 16, LIBCCALLS_EVENTS = 14 };   /* at most; for each file */

/* The files with probes: the events name these descriptors, as another file may be at a path by the time when they are opened.
 * Initialized by zeros. */
struct libccalls {
	int fds[LIBCCALLS_FILES];
	size_t n;
};

/* Adds the probes for these calls to the run's events. 0, or -1 with f. *why: why there are none. */
int libccalls_watch(struct libccalls *l, struct question *q, const struct callset *wanted, const char *tracefs, struct fault *why,
		    struct fault *f);
void libccalls_free(struct libccalls *l);
/* Whether the name, or NULL, is one of those, each of which has a space on both sides. */
bool libccalls_is_among(const char *names, const char *name);
/* Whether calls of that number have a path or an address. */
bool libccalls_has_path(int64_t call);
#endif
