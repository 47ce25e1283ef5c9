/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks and CPUs to watch, from -C, -p, -t and --cgroups. */
#ifndef STREAM_WATCHED_TARGETS_H
#define STREAM_WATCHED_TARGETS_H

#include "base/cpulist.h"
#include "base/fault.h"
#include "perfevent.h"
#include "stream/asked/opts.h"

#include <stdbool.h>
#include <sys/types.h>

/* A thread (tid >= 0), a cgroup (cgroup_fd >= 0) or all tasks (both -1). */
struct task_target {
	pid_t tid;
	int cgroup_fd;
	const char *cgroup;
};

/* Events are opened for every task × CPU. Threads come first, sorted by tid; then cgroups. */
struct targets {
	struct task_target *tasks;
	size_t ntasks, nthreads;      /* threads come first, sorted by their ids */
	struct numlist cpus;
};

int targets_resolve(struct targets *t, const struct stream_opts *opts, struct fault *f);
void targets_free(struct targets *t);
/* Checks that there is a thread with that id; and sets the error that the threads of a process cannot be listed
 * (error: an errno). 0, or -1 with f. */
int targets_check_thread(pid_t tid, struct fault *f);
int targets_no_process(pid_t pid, int error, struct fault *f);
/* Opens the directory of a cgroup; `mount` gets the mount point of its hierarchy. A descriptor, or
 * -1 with f. */
int targets_open_cgroup(const char *name, char *mount, size_t size, struct fault *f);
/* Hints at control groups that have no tasks. */
void targets_note_empty(const struct targets *t, const struct stream_opts *opts);
/* At the end of a run in which nothing happened: reports it if the tasks are threads of the kernel, or control groups without
 * tasks. */
void targets_tell_idle(const struct targets *t, const struct stream_opts *opts);
/* Lists the threads again: true if there are some that `t` does not have. */
bool targets_moved(const struct targets *t, const struct stream_opts *opts);
/* The target for opening an event of a task, or of all tasks, on a CPU. */
struct pev_target targets_of(const struct task_target *task, int cpu);
bool targets_everybody(const struct stream_opts *opts);
/* Sets the error that all targets ended before the events were open. Returns -1. */
int targets_ended(struct fault *f);
#endif
