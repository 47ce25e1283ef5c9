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
	pid_t pid;               /* the process of the thread: a forked child has none */
	pthread_mutex_t lock;    /* of the fields below */
	pthread_cond_t changed;
	int fd;                  /* the file to write; -1: none */
	bool over;
};

/* The file to write, or -1 to end the thread. */
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
		sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);   /* without effect on errors */
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

/* Uses its own descriptor, since the caller may close the file. */
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
