/* SPDX-License-Identifier: Apache-2.0 */
/* When a process began. */
#ifndef TASKS_PROCSTART_H
#define TASKS_PROCSTART_H

#include "base/opener.h"

#include <stdbool.h>
#include <time.h>

/* Whether a process of that number lives that began before `when` (CLOCK_REALTIME). */
bool procstart_before(const struct opener *o, pid_t pid, const struct timespec *when);
/* The same of a text as in /proc/PID/stat: ns since the machine booted. -1: it is none. */
int64_t procstart_parse(const char *stat);
#endif
