/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time and page faults of a process, as the kernel accounts them for everybody to read: no event is opened. */
#ifndef TASKS_CPUTIME_H
#define TASKS_CPUTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* With children that have ended and were waited for. */
struct cputime {
	uint64_t user, kernel;   /* ns, to about 10 ms */
	uint64_t faults;
};

/* What is in the text of /proc/PID/stat. False: malformed. */
bool cputime_parse(const char *stat, struct cputime *t);
/* Adds that of a process; it may have ended, until it is waited for. False: there is none. */
bool cputime_add(pid_t pid, struct cputime *t);
#endif
