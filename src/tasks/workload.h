/* SPDX-License-Identifier: Apache-2.0 */
/* A command that is started stopped, so that events can be opened on it before its first
 * instruction. */
#ifndef TASKS_WORKLOAD_H
#define TASKS_WORKLOAD_H

#include "base/fault.h"

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct workload {
	pid_t pid;             /* of the child; 0: none */
	int pidfd;             /* readable once it has ended */
	int go;                /* write end: a byte lets it exec */
	int trouble;           /* read end: errno of a failed exec */
	const char *name;      /* argv[0] */
};

enum { WORKLOAD_MISSING = 127, WORKLOAD_REFUSED = 126 };   /* exit codes, as shells have them */

/* Forks a child that waits. signals: the mask that it will run with. 0, or -1 with f. */
int workload_prepare(struct workload *w, char *const *argv, const sigset_t *signals,
		     const struct rlimit *files, struct fault *f);
/* Lets it go, and waits until it runs. 0, or -1 with f: 127 if there is no such program,
 * 126 if it can't be executed. */
int workload_start(struct workload *w, struct fault *f);
/* Collects it: exit status as the shell tells it (128 + signal). Blocks. */
int workload_collect(struct workload *w, struct rusage *usage);
/* Ends it in any state (by SIGTERM; who is there a second later is left alone) and frees
 * descriptors; nothing if it was collected. */
void workload_abandon(struct workload *w);
#endif
