/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of a FUSE file or of userfaultfd(2) comes when another program wants it to, and only a fatal signal ends the kernel's wait. So a
 * thread of its own reads, into memory of its own: if it takes too long, both are left to themselves.
 */
#include "tasks/taskmemory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_S = 1, MOST_LEFT = 4 };   /* MOST_LEFT: threads that still wait; then no memory is read any more */

struct errand {
	pid_t pid;
	const struct iovec *from;
	struct iovec to;
	size_t n;
	ssize_t got;             /* or -errno */
	atomic_bool over;        /* set by both; whoever is last frees it */
};

static atomic_int nleft;

static void *run(void *arg)
{
	struct errand *e = arg;

	e->got = process_vm_readv(e->pid, &e->to, 1, e->from, e->n, 0);
	e->got = e->got < 0 ? -errno : e->got;
	if (atomic_exchange(&e->over, true)) {
		nleft--;
		free(e);
	}
	return NULL;
}

static struct errand *prepare(pid_t pid, const struct iovec *from, size_t n)
{
	size_t size = 0;
	struct errand *e;

	for (size_t i = 0; i < n; i++)
		size += from[i].iov_len;
	e = malloc(sizeof(*e) + n * sizeof(*from) + size);
	if (!e)
		return NULL;
	*e = (struct errand){ .pid = pid, .from = memcpy(e + 1, from, n * sizeof(*from)), .n = n };
	e->to = (struct iovec){ (char *)(e + 1) + n * sizeof(*from), size };
	return e;
}

static int start(pthread_t *thread, struct errand *e)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, NULL, run, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* False: it has no answer, and goes on alone. */
static bool ends_in_time(pthread_t thread, struct errand *e)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	if (!pthread_timedjoin_np(thread, NULL, &until))
		return true;
	nleft++;
	if (atomic_exchange(&e->over, true)) {   /* just now */
		nleft--;
		return !pthread_join(thread, NULL);
	}
	pthread_detach(thread);
	return false;
}

ssize_t taskmemory_readv(pid_t tid, const struct iovec *to, const struct iovec *from, size_t n)
{
	struct errand *e = nleft < MOST_LEFT ? prepare(tid, from, n) : NULL;
	pthread_t thread;
	ssize_t got;

	if (!e || start(&thread, e)) {
		free(e);
		return nleft < MOST_LEFT ? -ENOMEM : -ETIME;
	}
	if (!ends_in_time(thread, e))
		return -ETIME;
	got = e->got;
	for (size_t i = 0, at = 0; got > 0 && i < n && at < (size_t)got; at += to[i++].iov_len)
		memcpy(to[i].iov_base, (char *)e->to.iov_base + at,
		       (size_t)got - at < to[i].iov_len ? (size_t)got - at : to[i].iov_len);
	free(e);
	return got;
}

ssize_t taskmemory_read(pid_t tid, uint64_t from, void *to, size_t n)
{
	const struct iovec local = { to, n }, remote = { (void *)(uintptr_t)from, n };

	return taskmemory_readv(tid, &local, &remote, 1);
}
