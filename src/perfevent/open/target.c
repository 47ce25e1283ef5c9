/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/open/target.h"

#include <errno.h>
#include <stdio.h>

struct pev_target pev_target_self(void)
{
	return (struct pev_target){ TARGET_TASK, 0, -1, -1 };
}

struct pev_target pev_target_thread(pid_t tid)
{
	return (struct pev_target){ TARGET_TASK, tid, -1, -1 };
}

struct pev_target pev_target_cpu(int cpu)
{
	return (struct pev_target){ TARGET_CPU, -1, cpu, -1 };
}

struct pev_target pev_target_thread_on_cpu(pid_t tid, int cpu)
{
	return (struct pev_target){ TARGET_TASK, tid, cpu, -1 };
}

struct pev_target pev_target_cgroup(int cgroup_fd, int cpu)
{
	return (struct pev_target){ TARGET_CGROUP, -1, cpu, cgroup_fd };
}

void pev_target_text(struct pev_target t, char *buf, size_t size)
{
	char task[32] = "the calling thread", where[32] = "";

	if (t.pid_)
		snprintf(task, sizeof(task), "thread %d", (int)t.pid_);
	if (t.cpu_ >= 0)
		snprintf(where, sizeof(where), " on CPU %d", t.cpu_);
	switch (t.kind_) {
	case TARGET_TASK:
		snprintf(buf, size, "%s%s", task, where);
		break;
	case TARGET_CPU:
		snprintf(buf, size, "CPU %d", t.cpu_);
		break;
	case TARGET_CGROUP:
		snprintf(buf, size, "a control group%s", where);
		break;
	default:
		snprintf(buf, size, "no target");
	}
}

int pev_target_args(struct pev_target t, pid_t *pid, int *cpu, unsigned long *flags)
{
	*pid = t.pid_;
	*cpu = t.cpu_;
	*flags = 0;
	switch (t.kind_) {
	case TARGET_TASK:
		return t.pid_ < 0 ? -EINVAL : 0;
	case TARGET_CPU:
		return t.cpu_ < 0 ? -EINVAL : 0;
	case TARGET_CGROUP:
		*pid = t.cgroup_fd_;
		*flags = PERF_FLAG_PID_CGROUP;
		return t.cgroup_fd_ < 0 || t.cpu_ < 0 ? -EINVAL : 0;
	}
	return -EINVAL;
}

bool pev_target_is_self_(struct pev_target t)
{
	return t.kind_ == TARGET_TASK && t.pid_ == 0 && t.cpu_ < 0;
}

bool pev_target_is_cgroup_(struct pev_target t)
{
	return t.kind_ == TARGET_CGROUP;
}
