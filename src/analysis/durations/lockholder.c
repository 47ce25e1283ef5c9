/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/lockholder.h"

#include "base/procstatus.h"
#include "base/textfile.h"
#include "engine/callnames.h"
#include "tasks/taskmemory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* LOCKED: the word of a glibc lock that others wait for. KINDS: all flags of a mutex. */
enum { LOCKED = 2, USERS_MOST = 1 << 16, KINDS = 0x3ff };

/* The beginning of a pthread_mutex_t of glibc, 64 bit. */
struct mutex {
	uint32_t word, count, owner, users, kind;
};

/* The beginning of a pthread_rwlock_t of glibc, 64 bit. */
struct rwlock {
	uint32_t readers, writers, phase_futex, writers_futex, pad[2], writer, shared;
};

static bool is_wait(const struct waitargs *c)
{
	const int operation = (int)c->args[1] & FUTEX_CMD_MASK;

	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* Whether the lock cannot be much else than a mutex of glibc, which is neither robust nor shared by processes. */
static bool is_plain(const struct waitargs *c, const struct mutex *m)
{
	enum { TYPE = 3, ELISION = 0x300 };   /* of the kind */

	return ((int)c->args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT && (uint32_t)c->args[2] == LOCKED && m->word == LOCKED && m->users == 1 &&
	       !(m->kind & ~(uint32_t)(TYPE | ELISION));
}

/* The tid that the lock names; 0: none. lock: what is there, or zeros. */
static uint32_t owner_in(const struct waitargs *c, struct mutex *lock)
{
	const int operation = (int)c->args[1] & FUTEX_CMD_MASK;
	const uint32_t expected = (uint32_t)c->args[2];
	struct mutex m = { 0 };
	const ssize_t n = taskmemory_read(c->tid, c->args[0], &m, sizeof(m));

	*lock = m;

	if (n < (ssize_t)sizeof(m.word))   /* it may end at the end of a page */
		return 0;
	if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2)
		return m.word & FUTEX_TID_MASK;
	if (!is_wait(c) || expected != LOCKED || n < (ssize_t)sizeof(m))
		return 0;
	if (m.word != LOCKED || !m.users || m.users > USERS_MOST || m.kind & ~(uint32_t)KINDS || m.owner > FUTEX_TID_MASK)
		return 0;
	return m.owner;
}

/* The writer that has a lock of readers and writers, for which readers wait at one of its words, and writers at another. */
static uint32_t writer_of(const struct waitargs *c)
{
	enum { WRITE_PHASE = 1, WRITE_LOCKED = 2, ALIGNED = 8 };   /* of the readers' word */
	const size_t word = c->args[0] % ALIGNED ? offsetof(struct rwlock, writers_futex) : offsetof(struct rwlock, phase_futex);
	struct rwlock l = { 0 };

	if (((int)c->args[1] & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET ||
	    taskmemory_read(c->tid, c->args[0] - word, &l, sizeof(l)) != sizeof(l))
		return 0;
	if ((l.readers & (WRITE_PHASE | WRITE_LOCKED)) != (WRITE_PHASE | WRITE_LOCKED) || l.pad[0] || l.pad[1] || l.shared > 1 ||
	    l.writer > FUTEX_TID_MASK)
		return 0;
	return l.writer;
}

static uint32_t owner_of(const struct waitargs *c)
{
	struct mutex m;
	const uint32_t owner = owner_in(c, &m);

	return owner ? owner : writer_of(c);
}

/* The tid of the thread that pthread_join() of glibc waits for: the kernel clears it when that one ends. It is in the thread's
 * descriptor, which begins with a pointer to itself, as the ABI of x86-64 demands. 0: it is another call. */
static uint32_t joined_by(const struct waitargs *c)
{
	enum { TID_AT = 0x2d0, TCB = 0, SELF = 2, WORDS = 3 };   /* struct pthread: tid; header.tcb, header.self */
	const uint64_t thread = c->args[0] - TID_AT;
	uint64_t head[WORDS] = { 0 };
	uint32_t tid = 0;

	if (!is_wait(c) || taskmemory_read(c->tid, c->args[0], &tid, sizeof(tid)) != sizeof(tid) || tid != (uint32_t)c->args[2] ||
	    taskmemory_read(c->tid, thread, head, sizeof(head)) != sizeof(head))
		return 0;
	return head[TCB] == thread && head[SELF] == thread && tid <= FUTEX_TID_MASK ? tid : 0;
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

void lockholder_name(const struct waitargs *c, pid_t tid, char *buf, size_t size)
{
	char path[64], comm[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)c->pid, (int)tid);
	textfile_read(path, comm, sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(buf, size, "%s (%d)", comm, (int)tid);
}

static bool put_thread(const struct waitargs *c, uint32_t inner, char *buf, size_t size)
{
	const pid_t tid = inner ? thread_of(c->pid, (pid_t)inner) : 0;

	if (!tid)
		return false;
	if (tid == c->tid)
		snprintf(buf, size, "itself");
	else
		lockholder_name(c, tid, buf, size);
	return true;
}

static bool is_futex(const struct waitargs *c)
{
	const char *call = syscall_name(c->call);

	return call && !strcmp(call, "futex") && c->pid;
}

pid_t lockholder_tid(const struct waitargs *c)
{
	const uint32_t inner = is_futex(c) ? owner_of(c) : 0;

	return inner ? thread_of(c->pid, (pid_t)inner) : 0;
}

/* For a process that numbers its threads as /proc does. Numbers are given in turn, so that of a thread follows its process's, unless
 * they began anew; then it is not known. */
pid_t lockholder_ended(const struct waitargs *c)
{
	struct mutex m;
	const pid_t tid = is_futex(c) ? (pid_t)owner_in(c, &m) : 0;

	if (tid <= c->pid || !is_plain(c, &m) || inner_of(c->pid, c->pid) != c->pid)
		return 0;
	return thread_of(c->pid, tid) ? 0 : tid;
}

bool lockholder_joined(const struct waitargs *c, char *buf, size_t size)
{
	return is_futex(c) && put_thread(c, joined_by(c), buf, size);
}

bool lockholder_text(const struct waitargs *c, char *buf, size_t size)
{
	char thread[96];
	pid_t ended;

	if (!is_futex(c))
		return false;
	if (put_thread(c, owner_of(c), thread, sizeof(thread)))
		snprintf(buf, size, "held by %s", thread);
	else if ((ended = lockholder_ended(c)))
		snprintf(buf, size, "held by thread %d, which has ended", (int)ended);
	else
		return false;
	return true;
}
