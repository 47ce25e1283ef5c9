/* SPDX-License-Identifier: Apache-2.0 */
/* Events for which perf-prof stat waits: the end of its targets, an interval, a signal. */
#ifndef STAT_WAIT_H
#define STAT_WAIT_H

#include "stat/stat.h"

enum stat_woke { WOKE_END, WOKE_INTERVAL, WOKE_SIGNAL, WOKE_SECOND_SIGNAL };

struct stat_wait {
	int signals;             /* signalfd of SIGINT, SIGTERM, SIGHUP */
	int timer;               /* timerfd, or -1 */
	sigset_t before;         /* original signal mask, restored for the command and at the end */
	int signaled;            /* number of signals received */
	int task;                /* pidfd of a watched task, or -1 */
	bool gone;               /* all watched tasks have ended */
};

/* Blocks the signals. 0, or -1 with f. */
int stat_wait_begin(struct stat_wait *w, uint64_t interval_ms, struct fault *f);
void stat_wait_end(struct stat_wait *w);
/* Restarts the interval: the first one begins when counting does. */
void stat_wait_restart(struct stat_wait *w, uint64_t interval_ms);
/* Waits. child: the command, or NULL; then for the end of the watched tasks, if there are any.
 * Signals that the command did not get from the terminal are forwarded to it. */
enum stat_woke stat_wait(struct stat_wait *w, const struct stat *s, const struct workload *child);
#endif
