/* SPDX-License-Identifier: Apache-2.0 */
/* Whom to watch, looked up from -C, -p, -t and --cgroups on this machine. */
#ifndef STREAM_WATCHED_TARGETS_H
#define STREAM_WATCHED_TARGETS_H

#include "base/cpulist.h"
#include "base/fault.h"
#include "perfevent.h"
#include "stream/asked/opts.h"

#include <stdbool.h>
#include <sys/types.h>

/* One thread (tid >= 0), one cgroup (cgroup_fd >= 0) or all tasks (both -1). */
struct task_target {
	pid_t tid;
	int cgroup_fd;
	const char *cgroup;
};

/* The targets, looked up: events are opened on every task × CPU. Threads are sorted. */
struct targets {
	struct task_target *tasks;
	size_t ntasks;
	struct numlist cpus;
};

int targets_resolve(struct targets *t, const struct stream_opts *opts, struct fault *f);
void targets_free(struct targets *t);
/* A descriptor of a control group's folder, and where its hierarchy is mounted; -1 with f. */
int targets_open_cgroup(const char *name, char *mount, size_t size, struct fault *f);
/* Lists the threads again; true if some are there that `t` does not know. */
bool targets_moved(const struct targets *t, const struct stream_opts *opts);
/* Where an event is opened: a task, or all of them, on a CPU. */
struct pev_target targets_of(const struct task_target *task, int cpu);
bool targets_everybody(const struct stream_opts *opts);
/* -1 with f: nobody was left when the events were open. */
int targets_ended(struct fault *f);
#endif
