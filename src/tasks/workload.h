/* SPDX-License-Identifier: Apache-2.0 */
/* A command that is forked but waits before exec, so that events can be opened on it first. */
#ifndef TASKS_WORKLOAD_H
#define TASKS_WORKLOAD_H

#include "base/fault.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct workload {
	pid_t pid;             /* of the child; 0: none */
	int pidfd;             /* readable once it has ended */
	int go;                /* write end: a byte starts the exec */
	int trouble;           /* read end: errno of a failed exec */
	const char *name;      /* argv[0] */
	bool runs;             /* exec has happened */
	int signal;            /* that ended it; 0: none */
	bool unknown;          /* how it ended: the kernel or another part of the program has waited for it */
};

enum { WORKLOAD_MISSING = 127, WORKLOAD_REFUSED = 126 };   /* exit codes as in shells */

/* Whether exec will find a program of that name; path: where. */
bool workload_find(const char *name, char *path, size_t size);
/* Reports that there is none: -1. */
int workload_missing(const char *name, struct fault *f);
enum {
	WORKLOAD_EMBEDDED = 1 << 0,    /* inside another program: this process's handling of SIGCHLD stays as it is */
	WORKLOAD_TO_STDERR = 1 << 1,   /* its output goes to stderr: stdout is a recording's */
};

/* Forks a child that waits. signals: the mask that it will run with. ways: WORKLOAD_... 0, or -1 with f. */
int workload_prepare(struct workload *w, char *const *argv, const sigset_t *signals, const struct rlimit *files,
		     unsigned int ways, struct fault *f);
/* Starts the program and waits for its exec. 0, or -1 with f: 127 if there is no such program, 126
 * if it cannot be executed. */
int workload_start(struct workload *w, struct fault *f);
/* Waits for the end. Returns the exit status as in shells (128 + signal); 0 if it is unknown. */
int workload_collect(struct workload *w, struct rusage *usage);
/* After workload_collect(): reports on stderr a signal that ended it, unless verbose is below 0. */
void workload_tell(const struct workload *w, int verbose);
/* Ends it in any state (SIGTERM, then up to a second of waiting) and frees the descriptors. Does
 * nothing after workload_collect(). */
void workload_abandon(struct workload *w);
#endif
