/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/write/writeback.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

struct writeback {
	pthread_t thread;
	pid_t pid;               /* whose thread it is: a forked child has none */
	pthread_mutex_t lock;    /* of what follows */
	pthread_cond_t changed;
	int fd;                  /* to be written; -1: nothing */
	bool over;
};

/* The file to be written, or -1: it is over. */
static int wait_for_file(struct writeback *b)
{
	int fd;

	pthread_mutex_lock(&b->lock);
	while (b->fd < 0 && !b->over)
		pthread_cond_wait(&b->changed, &b->lock);
	fd = b->fd;
	b->fd = -1;
	pthread_mutex_unlock(&b->lock);
	return fd;
}

static void *run(void *ctx)
{
	struct writeback *b = ctx;
	int fd;

	while ((fd = wait_for_file(b)) >= 0) {
		sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);   /* what can't be is as it was */
		close(fd);
	}
	return NULL;
}

struct writeback *writeback_new(void)
{
	struct writeback *b = malloc(sizeof(*b));
	sigset_t all, old;
	int rc;

	if (!b)
		return NULL;
	*b = (struct writeback){ .pid = getpid(), .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER,
				 .changed = PTHREAD_COND_INITIALIZER };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&b->thread, NULL, run, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!rc)
		return b;
	free(b);
	return NULL;
}

/* With a descriptor of its own: the file may be closed meanwhile. */
static void put(struct writeback *b, int fd, bool over)
{
	int before;

	pthread_mutex_lock(&b->lock);
	before = b->fd;
	b->fd = fd;
	b->over = over;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
	if (before >= 0)
		close(before);
}

void writeback_ask(struct writeback *b, int fd)
{
	int own = b ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;

	if (own >= 0)
		put(b, own, false);
}

void writeback_free(struct writeback *b)
{
	if (!b)
		return;
	if (b->pid == getpid()) {
		put(b, -1, true);
		pthread_join(b->thread, NULL);
	}
	free(b);
}
