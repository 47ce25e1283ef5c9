/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/barrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { AGE_MS = 100 };

static int membarrier(int cmd)
{
	return (int)syscall(SYS_membarrier, cmd, 0, 0);
}

static void poke(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return;   /* the counter is full: the reader is awake already */
}

static void wait_grace_period(bool has)
{
	struct timespec age = { 0, AGE_MS * 1000000L };

	if (has && !membarrier(MEMBARRIER_CMD_GLOBAL))
		return;
	nanosleep(&age, NULL);
}

static bool has_membarrier(void)
{
	int commands = membarrier(MEMBARRIER_CMD_QUERY);

	return commands > 0 && commands & MEMBARRIER_CMD_GLOBAL;
}

void barrier_wait(void)
{
	wait_grace_period(has_membarrier());
}

static void *run(void *arg)
{
	struct barrier *b = arg;
	bool has = has_membarrier();
	uint64_t n;

	while (!atomic_load(&b->ending)) {
		uint64_t r;

		if (read(b->ask, &n, sizeof(n)) < 0 && errno != EINTR)
			break;
		r = atomic_load(&b->asked);
		if (atomic_load(&b->ending) || r <= atomic_load(&b->passed))
			continue;
		wait_grace_period(has);
		atomic_store(&b->passed, r);
		poke(b->kick);
	}
	return NULL;
}

int barrier_start(struct barrier *b, int kick)
{
	sigset_t all, old;
	int rc;

	b->kick = kick;
	b->ask = eventfd(0, EFD_CLOEXEC);
	if (b->ask < 0)
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&b->thread, NULL, run, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	b->running = rc == 0;
	if (rc)
		close(b->ask);
	return -rc;
}

void barrier_stop(struct barrier *b)
{
	if (!b->running)
		return;
	atomic_store(&b->ending, true);
	poke(b->ask);
	pthread_join(b->thread, NULL);
	close(b->ask);
	b->running = false;
}

void barrier_ask(struct barrier *b, uint64_t r)
{
	if (r <= atomic_load_explicit(&b->asked, memory_order_relaxed))
		return;
	atomic_store(&b->asked, r);
	if (atomic_load(&b->passed) < r)
		poke(b->ask);
}

uint64_t barrier_passed(const struct barrier *b)
{
	return atomic_load(&b->passed);
}
