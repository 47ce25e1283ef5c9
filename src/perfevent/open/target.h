/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFEVENT_OPEN_TARGET_H
#define PERFEVENT_OPEN_TARGET_H

#include "perfevent.h"

enum { TARGET_NONE, TARGET_TASK, TARGET_CPU, TARGET_CGROUP };

/* "thread 123 on CPU 0": for messages. */
void pev_target_text(struct pev_target t, char *buf, size_t size);
/* pid, cpu and flags for the system call: 0, or -EINVAL for a target not made by a constructor. */
int pev_target_args(struct pev_target t, pid_t *pid, int *cpu, unsigned long *flags);
/* Whether it is the calling thread on any CPU. */
bool pev_target_is_self_(struct pev_target t);
bool pev_target_is_cgroup_(struct pev_target t);
#endif
