/* SPDX-License-Identifier: Apache-2.0 */
#include "sums/aggregation.h"

#include "base/now.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* An event comes at most so much later than it happened (ns), if the machine is not too busy. */
#define LATENESS UINT64_C(200000000)

struct aggregation {
	_Atomic unsigned int refs;
	struct session *session;
	uint64_t wait;                  /* ns from the first event of an interval to its end by the clock; 0: none */
	int epoll, timer;               /* the session's descriptor and the timer */
	pthread_mutex_t lock;
	/* Under the lock. */
	struct sums *sums;
	struct batch *batch;            /* rows from `row` on are not summed yet */
	size_t row;
	uint64_t deadline;              /* CLOCK_MONOTONIC; 0: none */
	bool over, failed;              /* no more batches come; `fault` is not reported yet */
	struct fault fault;
};

/* ---- beginning and end --------------------------------------------------------------- */

static int open_descriptors(struct aggregation *a, struct fault *f)
{
	struct epoll_event ev = { .events = EPOLLIN };

	a->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (a->timer >= 0 && a->epoll >= 0 && !epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->timer, &ev) &&
	    !epoll_ctl(a->epoll, EPOLL_CTL_ADD, session_fd(a->session), &ev))
		return 0;
	return fault_set(f, EXIT_FAILED, "cannot make a timer for the intervals: %s", strerror(errno));
}

struct aggregation *aggregation_new(struct session *s, const struct sums_asked *asked, bool live, struct fault *f)
{
	struct aggregation *a = calloc(1, sizeof(*a));
	struct sums_asked with_plans = *asked;

	if (!a) {
		fault_set(f, EXIT_FAILED, "out of memory");
		return NULL;
	}
	*a = (struct aggregation){ .refs = 1, .session = session_keep(s), .epoll = -1, .timer = -1 };
	a->wait = live && asked->interval ? asked->interval + LATENESS : 0;
	pthread_mutex_init(&a->lock, NULL);
	with_plans.plans = session_plans(s);
	a->sums = sums_new(&with_plans, session_columns(s), session_events(s), f);
	if (a->sums && !open_descriptors(a, f))
		return a;
	aggregation_release(a);
	return NULL;
}

struct aggregation *aggregation_keep(struct aggregation *a)
{
	atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
	return a;
}

void aggregation_release(struct aggregation *a)
{
	if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1)
		return;
	batch_release(a->batch);
	sums_free(a->sums);
	if (a->epoll >= 0)
		close(a->epoll);
	if (a->timer >= 0)
		close(a->timer);
	session_release(a->session);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

struct columns *aggregation_columns(struct aggregation *a)
{
	return sums_columns(a->sums);
}

int aggregation_fd(const struct aggregation *a)
{
	return a->epoll;
}

/* ---- reading ------------------------------------------------------------------------- */

static void set_timer(struct aggregation *a, uint64_t ns)
{
	struct itimerspec when = { .it_value = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) } };

	timerfd_settime(a->timer, 0, &when, NULL);
}

/* The timer also fires at once while there are rows left, so that the descriptor is readable. */
static void settle_timer(struct aggregation *a)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (sums_is_empty(a->sums))
		a->deadline = 0;
	else if (!a->deadline && a->wait)
		a->deadline = now + a->wait;
	set_timer(a, a->batch ? 1 : !a->deadline ? 0 : a->deadline > now ? a->deadline - now : 1);
}

/* Sums the rows of the present batch. True: an interval has ended. */
static bool add_batch(struct aggregation *a)
{
	if (sums_add(a->sums, a->batch, &a->row))
		return true;
	batch_release(a->batch);
	a->batch = NULL;
	settle_timer(a);
	return false;
}

static enum session_answer read_session(struct aggregation *a)
{
	enum session_answer answer = session_next(a->session, &a->batch, &a->fault);

	a->row = 0;
	a->failed |= answer == SESSION_FAILED;
	a->over |= answer == SESSION_FAILED || answer == SESSION_END;
	return answer;
}

static bool is_late(const struct aggregation *a)
{
	return a->deadline && now_ns(CLOCK_MONOTONIC) >= a->deadline;
}

/* SESSION_WAIT: nothing had a value. Without memory, the sums stay. */
static enum session_answer take(struct aggregation *a, struct batch **out, struct fault *f)
{
	a->deadline = 0;
	*out = sums_take(a->sums);
	settle_timer(a);
	if (*out)
		return SESSION_BATCH;
	if (sums_is_empty(a->sums))
		return SESSION_WAIT;
	fault_set(f, EXIT_FAILED, "out of memory");
	return SESSION_FAILED;
}

static enum session_answer end(struct aggregation *a, struct fault *f)
{
	bool failed = a->failed;

	a->failed = false;
	if (failed)
		*f = a->fault;
	return failed ? SESSION_FAILED : SESSION_END;
}

static enum session_answer step(struct aggregation *a, struct batch **out, struct fault *f)
{
	for (;;) {
		enum session_answer answer = SESSION_WAIT;

		if (a->batch) {
			if (add_batch(a))
				answer = take(a, out, f);
		} else if (a->over) {
			answer = sums_is_empty(a->sums) ? end(a, f) : take(a, out, f);
		} else {
			answer = read_session(a);
			if (answer == SESSION_WAIT && !is_late(a))
				return answer;
			if (answer == SESSION_FORKED)
				return answer;
			answer = answer == SESSION_WAIT && !sums_is_empty(a->sums) ? take(a, out, f) : SESSION_WAIT;
		}
		if (answer != SESSION_WAIT)
			return answer;
	}
}

enum session_answer aggregation_next(struct aggregation *a, struct batch **out, struct fault *f)
{
	enum session_answer answer;

	if (session_is_forked(a->session))   /* the lock may be locked, too */
		return SESSION_FORKED;
	pthread_mutex_lock(&a->lock);
	answer = step(a, out, f);
	pthread_mutex_unlock(&a->lock);
	return answer;
}

bool aggregation_stats(struct aggregation *a, struct sums_stats *stats)
{
	if (session_is_forked(a->session))
		return false;
	pthread_mutex_lock(&a->lock);
	sums_stats(a->sums, stats);
	pthread_mutex_unlock(&a->lock);
	return true;
}
