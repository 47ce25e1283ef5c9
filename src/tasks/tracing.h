/* SPDX-License-Identifier: Apache-2.0 */
/* The right to trace a process: ptrace(2), process_vm_readv(2). */
#ifndef TASKS_TRACING_H
#define TASKS_TRACING_H

#include "base/fault.h"

#include <sys/types.h>

/* A message for -EPERM or -EACCES, with what to do: "COMMAND: THING of process 12 may not be DONE: ...". Returns -1. */
int tracing_refused(int rc, const char *command, const char *thing, const char *done, pid_t pid, struct fault *f);
#endif
