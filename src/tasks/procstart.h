/* SPDX-License-Identifier: Apache-2.0 */
/* Start time of a process. */
#ifndef TASKS_PROCSTART_H
#define TASKS_PROCSTART_H

#include "base/opener.h"

#include <stdbool.h>
#include <time.h>

/* Whether process `pid` exists and started before `when` (CLOCK_REALTIME). */
bool procstart_before(const struct opener *o, pid_t pid, const struct timespec *when);
/* Start time in the text of /proc/PID/stat: ns since boot. -1: malformed. */
int64_t procstart_parse(const char *stat);
#endif
