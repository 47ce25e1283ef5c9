/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/target.h - what an event watches */
#ifndef PEV_TARGET_H
#define PEV_TARGET_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Targets: what an event watches. Only constructors make them, and none makes "any
 * task on any CPU", which the kernel refuses. A zeroed target is refused with
 * -EINVAL.
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
PEV_API struct pev_target pev_target_thread_on_cpu(pid_t tid, int cpu); /* a thread, there */
PEV_API struct pev_target pev_target_cgroup(int cgroup_fd, int cpu);  /* fd of a cgroup folder */

#ifdef __cplusplus
}
#endif
#endif
