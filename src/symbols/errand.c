/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/errand.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { END_SECONDS = 1 };

#define DAY UINT64_C(86400000000000)

struct errands {
	pid_t owner;             /* the process; a forked child does not have the thread */
	pthread_t thread;
	bool running, ending;
	pthread_mutex_t lock;
	pthread_cond_t sent, done;
	struct errand *first, **last;
};

struct errands *errands_new(void)
{
	struct errands *e = calloc(1, sizeof(*e));
	pthread_condattr_t attr;

	if (!e)
		return NULL;
	e->owner = getpid();
	e->last = &e->first;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->sent, NULL);
	pthread_cond_init(&e->done, &attr);
	pthread_condattr_destroy(&attr);
	return e;
}

/* Call it with the lock. NULL: the thread is to end. */
static struct errand *next(struct errands *e)
{
	struct errand *errand;

	while (!e->first && !e->ending)
		pthread_cond_wait(&e->sent, &e->lock);
	if (e->ending)
		return NULL;
	errand = e->first;
	e->first = errand->next;
	if (!e->first)
		e->last = &e->first;
	return errand;
}

static void *run(void *arg)
{
	struct errands *e = arg;
	struct errand *errand;

	pthread_mutex_lock(&e->lock);
	while ((errand = next(e))) {
		pthread_mutex_unlock(&e->lock);
		errand->run(errand);
		pthread_mutex_lock(&e->lock);
		atomic_store(&errand->done, true);
		pthread_cond_broadcast(&e->done);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

static bool start(struct errands *e)
{
	sigset_t all, old;

	if (e->running || e->owner != getpid())
		return e->owner == getpid();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	e->running = !pthread_create(&e->thread, NULL, run, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return e->running;
}

bool errands_send(struct errands *e, struct errand *errand, bool urgent)
{
	if (!start(e))
		return false;
	errand->next = NULL;
	atomic_store(&errand->done, false);
	pthread_mutex_lock(&e->lock);
	if (urgent) {
		errand->next = e->first;
		e->first = errand;
	} else {
		*e->last = errand;
	}
	if (!errand->next)
		e->last = &errand->next;
	pthread_cond_signal(&e->sent);
	pthread_mutex_unlock(&e->lock);
	return true;
}

static struct timespec in(clockid_t clock, uint64_t ns)
{
	struct timespec t;

	clock_gettime(clock, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000);
	t.tv_nsec = (long)(ns % 1000000000);
	return t;
}

bool errands_wait(struct errands *e, struct errand *errand, uint64_t ns)
{
	struct timespec until;

	if (atomic_load(&errand->done) || !ns || e->owner != getpid())
		return atomic_load(&errand->done);
	until = in(CLOCK_MONOTONIC, ns < DAY ? ns : DAY);
	pthread_mutex_lock(&e->lock);
	while (!atomic_load(&errand->done) && !pthread_cond_timedwait(&e->done, &e->lock, &until))
		;
	pthread_mutex_unlock(&e->lock);
	return atomic_load(&errand->done);
}

bool errands_is_here(const struct errands *e)
{
	return e->owner == getpid();
}

bool errands_is_thread(const struct errands *e)
{
	return e->running && pthread_equal(pthread_self(), e->thread);
}

bool errands_free(struct errands *e)
{
	struct timespec until;

	if (!e)
		return true;
	if (e->running && e->owner == getpid()) {
		pthread_mutex_lock(&e->lock);
		e->ending = true;
		pthread_cond_signal(&e->sent);
		pthread_mutex_unlock(&e->lock);
		until = in(CLOCK_REALTIME, END_SECONDS * UINT64_C(1000000000));
		if (pthread_timedjoin_np(e->thread, NULL, &until))
			return false;
	}
	free(e);
	return true;
}
