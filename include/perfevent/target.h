/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/target.h - the task, CPU or cgroup that an event watches */
#ifndef PEV_TARGET_H
#define PEV_TARGET_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Targets are only made by the functions below. None of them makes "any task on any CPU", which
 * the kernel refuses. A zeroed target is refused with -EINVAL.
 */
struct pev_target {
	int kind_;         /* private */
	pid_t pid_;
	int cpu_;
	int cgroup_fd_;
};

PEV_API struct pev_target pev_target_self(void);                      /* calling thread, any CPU */
PEV_API struct pev_target pev_target_thread(pid_t tid);               /* a thread, any CPU */
PEV_API struct pev_target pev_target_cpu(int cpu);                    /* all tasks on a CPU */
PEV_API struct pev_target pev_target_thread_on_cpu(pid_t tid, int cpu); /* a thread on a CPU */
PEV_API struct pev_target pev_target_cgroup(int cgroup_fd, int cpu);  /* fd of the cgroup's folder */

#ifdef __cplusplus
}
#endif
#endif
