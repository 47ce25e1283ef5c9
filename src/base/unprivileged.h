/* SPDX-License-Identifier: Apache-2.0 */
/* What a user whom the kernel refuses an event may look at instead. */
#ifndef BASE_UNPRIVILEGED_H
#define BASE_UNPRIVILEGED_H

#include "base/fault.h"

/* The kernel's account has them for everybody. */
#define UNPRIVILEGED_SWITCHES "`perf-prof stat -e context-switches -- COMMAND` counts context switches of a command; " \
			      "`grep ctxt /proc/PID/task/*/status` shows those of a process so far"

/* If a tracepoint, a probe or context switches were refused: adds to f what still works without privilege. argv: arguments of
 * the command. */
void unprivileged_advise(const char *command, char *const *argv, struct fault *f);
#endif
