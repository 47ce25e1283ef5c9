/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/lockholder.h"

#include "base/procstatus.h"
#include "base/textfile.h"
#include "engine/callnames.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* LOCKED: the word of a glibc lock that others wait for. KINDS: all flags of a mutex. */
enum { LOCKED = 2, USERS_MOST = 1 << 16, KINDS = 0x3ff };

/* The beginning of a pthread_mutex_t of glibc, 64 bit. */
struct mutex {
	uint32_t word, count, owner, users, kind;
};

/* The tid that the lock names; 0: none. */
static uint32_t owner_of(const struct waitargs *c)
{
	const int operation = (int)c->args[1] & FUTEX_CMD_MASK;
	const uint32_t expected = (uint32_t)c->args[2];
	struct mutex m = { 0 };
	const struct iovec local = { &m, sizeof(m) }, remote = { (void *)(uintptr_t)c->args[0], sizeof(m) };
	const ssize_t n = process_vm_readv(c->tid, &local, 1, &remote, 1, 0);

	if (n < (ssize_t)sizeof(m.word))   /* it may end at the end of a page */
		return 0;
	if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2)
		return m.word & FUTEX_TID_MASK;
	if ((operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) || expected != LOCKED || n < (ssize_t)sizeof(m))
		return 0;
	if (m.word != LOCKED || !m.users || m.users > USERS_MOST || m.kind & ~(uint32_t)KINDS || m.owner > FUTEX_TID_MASK)
		return 0;
	return m.owner;
}

/* The thread's own number of itself: that of its innermost PID namespace. */
static long inner_of(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	return procstatus_in(AT_FDCWD, path, "\nNSpid:", -1);
}

/* The thread of the process that calls itself so; 0: none. */
static pid_t thread_of(pid_t pid, pid_t inner)
{
	const struct dirent *d;
	pid_t found = 0;
	char path[64];
	DIR *dir;

	if (inner_of(pid, pid) == pid)   /* in the namespace of /proc */
		return inner_of(pid, inner) == inner ? inner : 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir)))
		if (inner_of(pid, atoi(d->d_name)) == inner)
			found = atoi(d->d_name);
	if (dir)
		closedir(dir);
	return found;
}

bool lockholder_text(const struct waitargs *c, char *buf, size_t size)
{
	const char *call = syscall_name(c->call);
	char path[64], comm[64] = "";
	uint32_t owner;
	pid_t holder;

	if (!call || strcmp(call, "futex") || !c->pid || !(owner = owner_of(c)) || !(holder = thread_of(c->pid, (pid_t)owner)))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)c->pid, (int)holder);
	textfile_read(path, comm, sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	if (holder == c->tid)
		snprintf(buf, size, "itself");
	else
		snprintf(buf, size, "%s (%d)", comm, (int)holder);
	return true;
}
