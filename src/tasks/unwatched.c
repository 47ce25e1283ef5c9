/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/unwatched.h"

#include "base/escape.h"
#include "base/procstatus.h"
#include "base/textfile.h"
#include "tasks/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <perfevent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { FLAG_EXITING = 4 };   /* PF_EXITING, in the kernel's <linux/sched.h> */

#define AS_ROOT "run perf-prof as root (sudo)"
#define OUTSIDE \
	"this process is in a user namespace, and root there may not read all files: run it as root outside of that namespace"
#define UNREADABLE "this user may not read it"
#define ALL_CPUS "use -a, which watches all processes, this one included"

/* "PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS ..." */
static bool runs_on(const char *stat)
{
	const char *p = strrchr(stat, ')');
	unsigned int flags;
	char state;

	return p && sscanf(p + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2 && state != 'Z' && state != 'X' &&
	       !(flags & FLAG_EXITING);
}

/* The files of a task without a core dump belong to root. Another thread may have got the number by its exec: its events
 * go on, and its files belong to its user, who is root for root's processes. */
static bool goes_on(pid_t tid)
{
	char path[64], text[2048];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (textfile_read(path, text, sizeof(text)) <= 0 || !runs_on(text) || stat(path, &st) || st.st_uid)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	return geteuid() || procstatus_in(AT_FDCWD, path, "\nUid:", 1) > 0 || procstatus_in(AT_FDCWD, path, "\nGid:", 1) > 0;
}

/* The kernel ignores the bits and capabilities of a file there. */
static bool keeps_privileges(const char *path)
{
	struct statvfs fs;

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || (!statvfs(path, &fs) && fs.f_flag & ST_NOSUID);
}

/* The kernel ignores the bits of a script: only those of its interpreter count. */
static bool is_script(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char start[2];
	const bool found = fd >= 0 && read(fd, start, 2) == 2 && start[0] == '#' && start[1] == '!';

	if (fd >= 0)
		close(fd);
	return found;
}

/* Whether this user namespace has the id: the kernel ignores the bits of a file whose owner or group it has not. */
static bool is_mapped(const char *map, unsigned int id)
{
	FILE *in = fopen(map, "re");
	unsigned int first, count;
	bool found = !in;

	while (!found && fscanf(in, "%u %*u %u", &first, &count) == 2)
		found = id - first < count;
	if (in)
		fclose(in);
	return found;
}

/* NULL: the program runs without privileges of its file. */
static const char *privilege(const char *path, const struct stat *st)
{
	const bool mapped = is_mapped("/proc/self/uid_map", st->st_uid) && is_mapped("/proc/self/gid_map", st->st_gid);

	if (keeps_privileges(path) || is_script(path))
		return NULL;
	if (mapped && st->st_mode & S_ISUID && st->st_uid != geteuid())
		return "it is set-user-ID";
	if (mapped && st->st_mode & S_ISGID && st->st_mode & S_IXGRP && st->st_gid != getegid())
		return "it is set-group-ID";
	return geteuid() && getxattr(path, "security.capability", NULL, 0) > 0 ? "its file has capabilities" : NULL;
}

/* NULL: nothing of the file makes the kernel remove events. */
static const char *reason(const char *path)
{
	struct stat st;
	const char *why;

	if (stat(path, &st))
		return NULL;
	why = privilege(path, &st);
	return why || !faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) || errno != EACCES ? why : UNREADABLE;
}

static void say_of_file(const char *path, const char *why, char *text, size_t size)
{
	char name[PATH_MAX];

	escape_terminal(path, strnlen(path, sizeof(name) / 4 - 1), name, sizeof(name));
	snprintf(text, size, "%s is not watched: %s, so the kernel removed the events when it was executed; %s", name, why,
		 geteuid() ? AS_ROOT : strcmp(why, UNREADABLE) ? ALL_CPUS : OUTSIDE);
}

static void say_of_task(pid_t tid, char *text, size_t size)
{
	char path[64], comm[64], name[4 * sizeof(comm)] = "?";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	if (textfile_read(path, comm, sizeof(comm)) > 0)
		escape_terminal(comm, strcspn(comm, "\n"), name, sizeof(name));
	snprintf(text, size, "process %d is no longer watched: it executed a program (%s) that is set-user-ID, set-group-ID, has "
		 "capabilities, or is not readable, so the kernel removed the events; %s", (int)tid, name,
		 geteuid() ? AS_ROOT : ALL_CPUS);
}

void unwatched_say_of_child(pid_t pid, const char *program, size_t others, enum unwatched_in in, char *text, size_t size)
{
	const bool recorded = in == UNWATCHED_IN_RECORDING;
	char name[64], more[64] = "";

	escape_terminal(program, strlen(program), name, sizeof(name));
	if (others)
		snprintf(more, sizeof(more), " and %zu other%s", others, others > 1 ? "s" : "");
	snprintf(text, size, "%s (process %d)%s %s not %s: the kernel removes the events of a task that executes a program that "
		 "is set-user-ID, set-group-ID, has capabilities, or is not readable; %s", name, (int)pid, more,
		 recorded ? others ? "were" : "was" : others ? "are" : "is", recorded ? "recorded" : "watched",
		 recorded ? "record as root (sudo), with -a instead of -p" : !geteuid() ? ALL_CPUS :
		 in == UNWATCHED_IN_COMMAND ? AS_ROOT : AS_ROOT ", with -a instead of -p");
}

bool unwatched_check(pid_t tid, const char *command, char *text, size_t size)
{
	const bool alive = goes_on(tid);
	char path[PATH_MAX];
	const char *why = command && workload_find(command, path, sizeof(path)) ? reason(path) : NULL;

	if (why)
		say_of_file(path, why, text, size);
	else if (alive)
		say_of_task(tid, text, size);
	return why || alive;
}

void unwatched_open(struct unwatched_event *u, pid_t tid)
{
	struct perf_event_attr attr;

	*u = (struct unwatched_event){ .fd = -1 };
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.exclude_kernel = attr.exclude_hv = attr.disabled = 1;
	if (pev_event_open(&u->ev, &attr, pev_target_thread(tid), NULL, NULL) || pev_ring_map(&u->ring, u->ev, 1, NULL))
		unwatched_close(u);
	else
		u->fd = pev_event_fd(u->ev);
}

void unwatched_close(struct unwatched_event *u)
{
	pev_ring_unmap(u->ring);
	pev_event_close(u->ev);
	*u = (struct unwatched_event){ .fd = -1 };
}
