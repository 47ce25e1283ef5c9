/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up -C, -p, -t and --cgroups on this machine. */
#include "stream/watched/targets.h"

#include "base/escape.h"
#include "base/note.h"
#include "base/procstatus.h"
#include "base/room.h"
#include "tasks/cgrouptree.h"
#include "tasks/containers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

bool targets_everybody(const struct stream_opts *opts)
{
	return !opts->pids.n && !opts->tids.n && !opts->cgroups.n;
}

static int add_task(struct targets *t, struct task_target task)
{
	if (!ROOM_FOR_ONE(t->tasks, t->ntasks))
		return -ENOMEM;
	t->tasks[t->ntasks++] = task;
	return 0;
}

static int by_tid(const void *a, const void *b)
{
	const struct task_target *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* A thread that is named twice, by itself and by its process, is watched once. Sorted for
 * targets_moved(): there may be ten thousand threads. */
static void drop_doubles(struct targets *t)
{
	size_t n = 0;

	if (t->ntasks)
		qsort(t->tasks, t->ntasks, sizeof(*t->tasks), by_tid);
	for (size_t i = 0; i < t->ntasks; i++)
		if (!n || t->tasks[n - 1].tid != t->tasks[i].tid)
			t->tasks[n++] = t->tasks[i];
	t->ntasks = t->nthreads = n;
}

/* Adds the threads of a process; -ESRCH if it has ended. */
static int add_threads(struct targets *t, pid_t pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!rc && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			rc = add_task(t, (struct task_target){ .tid = atoi(d->d_name),
							       .cgroup_fd = -1 });
	closedir(dir);
	return rc;
}

/* A task that does not exist. */
static int nobody(struct fault *f)
{
	f->error = ESRCH;
	return -1;
}

int targets_no_process(pid_t pid, int error, struct fault *f)
{
	if (access("/proc/self", F_OK))
		return fault_set(f, EXIT_FAILED, "cannot list the threads of process %d: /proc is not mounted; as root: "
				 "mount -t proc proc /proc", (int)pid);
	if (error == ESRCH || error == ENOENT) {
		fault_set(f, EXIT_FAILED, "-p %d: there is no such process; `pgrep NAME` finds the number", (int)pid);
		return nobody(f);
	}
	return fault_set(f, EXIT_FAILED, "-p %d: cannot list its threads: %s", (int)pid, strerror(error));
}

int targets_check_thread(pid_t tid, struct fault *f)
{
	if (tid <= 0 || (kill(tid, 0) && errno == ESRCH)) {
		fault_set(f, EXIT_FAILED, "-t %d: there is no such thread; `ps -eLf` lists them", (int)tid);
		return nobody(f);
	}
	return 0;
}

static int resolve_pids(struct targets *t, const struct stream_opts *opts, struct fault *f)
{
	for (size_t i = 0; i < opts->pids.n; i++) {
		int rc = add_threads(t, opts->pids.v[i]);

		if (rc)
			return targets_no_process(opts->pids.v[i], -rc, f);
	}
	return 0;
}

static int resolve_tids(struct targets *t, const struct stream_opts *opts, struct fault *f)
{
	for (size_t i = 0; i < opts->tids.n; i++) {
		int tid = opts->tids.v[i];

		if (targets_check_thread(tid, f))
			return -1;
		if (add_task(t, (struct task_target){ .tid = tid, .cgroup_fd = -1 }))
			return fault_set(f, EXIT_FAILED, "out of memory");
	}
	return 0;
}

/* Replaces `path` by that of the one group of this name, wherever it is: "nginx.service". 0, or -1 with f. */
static int find_unit(const char *name, const char *mount, char *path, size_t size, struct fault *f)
{
	char *found = containers_find_unit(mount, name, f);
	bool fits = found && (size_t)snprintf(path, size, "%s%s", mount, found) < size;

	if (found && !fits)
		fault_set(f, EXIT_FAILED, "--cgroups %s: the path %s%s is too long", name, mount, found);
	free(found);
	return fits ? 0 : -1;
}

/* "--cgroups NAME: PATH: why"; returns -1. */
static int complain_cgroup(const char *name, const char *path, int error, const char *mount, struct fault *f)
{
	if (error == ENOENT)
		fault_set(f, EXIT_FAILED, "--cgroups %s: there is no such control group: %s does not exist; expected a path below %s, "
			  "such as system.slice/ssh.service, or the last part of one; `find %s -type d` lists them",
			  name, path, mount, mount);
	else
		fault_set(f, EXIT_FAILED, "--cgroups %s: %s: %s; expected a folder below %s", name, path, strerror(error), mount);
	if (f)
		f->error = error;
	return -1;
}

/* A folder such as /sys/fs/cgroup where each controller is mounted below it. */
static bool is_cgroup(int folder, const char *mount)
{
	struct statfs own, other;

	return fstatfs(folder, &own) || statfs(mount, &other) || own.f_type == other.f_type;
}

/* Replaces `path` by that of a group of version 1, named as "GROUP" or "HIERARCHY/GROUP", beside the mount point. */
static bool find_v1(const char *name, const char *mount, char *path, size_t size)
{
	char pattern[1024];
	glob_t found;
	bool any;

	snprintf(pattern, sizeof(pattern), "%.*s/{,*/}%s", (int)(strrchr(mount, '/') - mount), mount, name + strspn(name, "/"));
	any = *name && !glob(pattern, GLOB_BRACE | GLOB_ONLYDIR, NULL, &found);
	if (any) {
		snprintf(path, size, "%s", found.gl_pathv[0]);
		globfree(&found);
	}
	return any;
}

int targets_open_cgroup(const char *name, char *mount, size_t size, struct fault *f)
{
	char path[1024];
	struct statfs fs;
	bool v1;
	int fd;

	if (cgrouptree_mount(mount, size))
		return fault_set(f, EXIT_FAILED, "--cgroups %s: no cgroup file system is mounted; "
				 "mount -t cgroup2 none /sys/fs/cgroup", name);
	/* name is relative to the mount point, also with a leading "/"; an absolute path only if
	 * there is no such cgroup */
	snprintf(path, sizeof(path), "%s/%s", mount, name + strspn(name, "/"));
	if (name[0] == '/' && access(path, F_OK) && (!access(name, F_OK) || !strncmp(name, "/sys/", strlen("/sys/"))))
		snprintf(path, sizeof(path), "%s", name);
	if (access(path, F_OK) && !strchr(name, '/') && *name && find_unit(name, mount, path, sizeof(path), f) &&
	    !find_v1(name, mount, path, sizeof(path)))
		return -1;
	if (access(path, F_OK))
		find_v1(name, mount, path, sizeof(path));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || is_cgroup(fd, mount))
		return fd >= 0 ? fd : complain_cgroup(name, path, errno, mount, f);
	v1 = !fstatfs(fd, &fs) && fs.f_type == CGROUP_SUPER_MAGIC;
	close(fd);
	return fault_set(f, EXIT_FAILED, "--cgroups %s: %s is not a control group%s; those whose events can be watched are %s and the "
			 "folders below it", name, path, v1 ? " that perf events know: it is of version 1" : "", mount);
}

static int resolve_cgroup(struct targets *t, const char *name, const char *label, struct fault *f)
{
	char mount[256];
	int fd = targets_open_cgroup(name, mount, sizeof(mount), f);

	if (fd < 0)
		return -1;
	if (add_task(t, (struct task_target){ .tid = -1, .cgroup_fd = fd, .cgroup = label })) {
		close(fd);
		return fault_set(f, EXIT_FAILED, "out of memory");
	}
	return 0;
}

/* CPUs of -C that are not online are left out; it is an error if no other is left. */
static int tell_cpus(const struct numlist *missing, const struct targets *t, const struct numlist *online, const struct stream_opts *opts,
		     struct fault *f)
{
	char asked[256], lack[256], have[256];

	numlist_text(&opts->cpus, asked, sizeof(asked));
	numlist_text(missing, lack, sizeof(lack));
	numlist_text(online, have, sizeof(have));
	if (!t->cpus.n)
		return fault_usage(f, "--cpus %s: CPU %s is not online on this machine; online: %s; use -C %s", asked, lack, have, have);
	note(opts->verbose, "--cpus %s: CPU %s is not online on this machine, and left out; online: %s", asked, lack, have);
	return 0;
}

static int resolve_cpus(struct targets *t, const struct stream_opts *opts, struct fault *f)
{
	struct numlist online = { 0 }, missing = { 0 };
	int rc = cpulist_online(&online);

	if (rc)
		return fault_set(f, EXIT_FAILED, "cannot read the list of online CPUs "
				 "(/sys/devices/system/cpu/online): %s",
				 strerror(-rc));
	for (size_t i = 0; i < opts->cpus.n && !rc; i++)
		rc = numlist_add(numlist_has(&online, opts->cpus.v[i]) ? &t->cpus : &missing, opts->cpus.v[i]);
	if (rc)
		fault_set(f, EXIT_FAILED, "out of memory");
	else if (missing.n)
		rc = tell_cpus(&missing, t, &online, opts, f);
	numlist_free(&missing);
	if (rc || opts->cpus.n)
		numlist_free(&online);
	else
		t->cpus = online;
	return rc;
}

int targets_resolve(struct targets *t, const struct stream_opts *opts, struct fault *f)
{
	if (resolve_cpus(t, opts, f) || resolve_pids(t, opts, f) || resolve_tids(t, opts, f))
		return -1;
	drop_doubles(t);
	for (size_t i = 0; i < opts->cgroups.n; i++)
		if (resolve_cgroup(t, opts->cgroups.v[i], stream_cgroup_label(opts, i), f))
			return -1;
	if (targets_everybody(opts) &&
	    add_task(t, (struct task_target){ .tid = -1, .cgroup_fd = -1 }))
		return fault_set(f, EXIT_FAILED, "out of memory");
	return 0;
}

/* Puts the name of a control group without tasks. False: it has tasks, or the task is of none. */
static bool put_empty(const struct task_target *task, char *name, size_t size)
{
	if (task->cgroup_fd < 0 || !cgrouptree_is_empty(task->cgroup_fd))
		return false;
	escape_terminal(task->cgroup, strlen(task->cgroup), name, size);
	return true;
}

void targets_note_empty(const struct targets *t, const struct stream_opts *opts)
{
	char name[1024];

	for (size_t i = 0; i < t->ntasks; i++)
		if (put_empty(&t->tasks[i], name, sizeof(name)))
			note(opts->verbose, "control group %s has no tasks now: only those that enter it are watched", name);
}

static bool are_of_kernel(const struct targets *t)
{
	for (size_t i = 0; i < t->ntasks; i++)
		if (t->tasks[i].tid < 0 || !procstatus_is_of_kernel(t->tasks[i].tid))
			return false;
	return t->ntasks;
}

void targets_tell_idle(const struct targets *t, const struct stream_opts *opts)
{
	char name[1024];

	if (opts->verbose < 0)
		return;
	if (are_of_kernel(t))
		note(1, "nothing happened in the watched tasks: %d is a kernel thread, which makes no system calls and has no page "
		     "faults and no functions in user space", (int)t->tasks[0].tid);
	/* else targets_note_empty() has said so */
	for (size_t i = 0; i < t->ntasks && !note_is_shown(opts->verbose); i++)
		if (put_empty(&t->tasks[i], name, sizeof(name)))
			note(1, "nothing happened: control group %s has no tasks", name);
}

bool targets_moved(const struct targets *t, const struct stream_opts *opts)
{
	struct targets now = {0};
	bool moved = false;

	for (size_t i = 0; i < opts->pids.n; i++)
		add_threads(&now, opts->pids.v[i]);
	for (size_t i = 0; i < now.ntasks && !moved; i++)
		moved = !bsearch(&now.tasks[i], t->tasks, t->nthreads, sizeof(*t->tasks), by_tid);
	free(now.tasks);
	return moved;
}

int targets_ended(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "the watched processes ended before the events were open");
}

struct pev_target targets_of(const struct task_target *task, int cpu)
{
	if (task->cgroup_fd >= 0)
		return pev_target_cgroup(task->cgroup_fd, cpu);
	if (task->tid >= 0)
		return pev_target_thread_on_cpu(task->tid, cpu);
	return pev_target_cpu(cpu);
}

void targets_free(struct targets *t)
{
	for (size_t i = 0; i < t->ntasks; i++)
		if (t->tasks[i].cgroup_fd >= 0)
			close(t->tasks[i].cgroup_fd);
	free(t->tasks);
	numlist_free(&t->cpus);
	*t = (struct targets){0};
}
