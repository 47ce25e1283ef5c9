/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/attention.h"

#include "base/descriptors.h"
#include "base/now.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const int handled[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
enum { NHANDLED = sizeof(handled) / sizeof(*handled), SAME_REQUEST_NS = 200000000 };

/* A signal handler gets no argument from us, so this is static. */
static struct attention *_Atomic active;
static struct sigaction previous[NHANDLED];

static void poke(int eventfd_)
{
	uint64_t one = 1;
	ssize_t rc = write(eventfd_, &one, sizeof(one));

	(void)rc;   /* the counter is full: the reader is awake already */
}

void attention_raise(struct attention *a, unsigned int bits)
{
	atomic_fetch_or(&a->bits, bits);
	poke(a->kick);
}

void attention_nudge(struct attention *a)
{
	pthread_sigqueue(a->main, SIGINT, (union sigval){ .sival_ptr = a });
}

/* timeout(1) and terminals may send the same request twice: a signal within 200 ms of the first one
 * counts as the same. */
static void stop_signal(struct attention *a)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), first = 0;

	/* set stop_ns before `stops` is incremented: the watchdog reads it as soon as `stops` is not 0 */
	if (!atomic_compare_exchange_strong(&a->stop_ns, &first, now) &&
	    now < first + SAME_REQUEST_NS)
		return;
	atomic_fetch_add(&a->stops, 1);
	attention_raise(a, ATTN_STOP);
	poke(a->tell);
}

/* A nudge identifies itself in its siginfo. A separate flag could be cleared by an earlier nudge
 * that arrives late; the second nudge would then count as a second Ctrl-C. */
static bool is_nudge(const struct attention *a, const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && info->si_pid == getpid() && info->si_value.sival_ptr == a;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	struct attention *a = atomic_load(&active);

	if (a && sig == SIGINT && is_nudge(a, info))
		a->nudge(a->ctx);
	else if (a && sig != SIGUSR1 && sig != SIGUSR2)
		stop_signal(a);
	else if (a)
		attention_raise(a, sig == SIGUSR1 ? ATTN_REOPEN : ATTN_STAT);
	errno = saved;
}

static void watch_stop(struct attention *a, uint64_t *next_interrupt)
{
	int stops = atomic_load(&a->stops);

	if (stops >= (atomic_load(&a->ended) ? 1 : 2) && a->last_words)
		a->last_words(a->ctx);   /* does not return */
	if (stops && !*next_interrupt)
		*next_interrupt = atomic_load(&a->stop_ns) + STOP_GRACE_MS * 1000000ull;
	if (!*next_interrupt || now_ns(CLOCK_MONOTONIC) < *next_interrupt)
		return;
	if (!a->past_deadline) {
		a->past_deadline = true;
		attention_raise(a, ATTN_DEADLINE);
		*next_interrupt = now_ns(CLOCK_MONOTONIC) + RETURN_GRACE_MS * 1000000ull;
		return;
	}
	if (a->interrupt)
		a->interrupt(a->ctx);
	*next_interrupt = now_ns(CLOCK_MONOTONIC) + STOP_GRACE_MS * 1000000ull;
}

static void *watchdog(void *arg)
{
	struct attention *a = arg;
	struct pollfd p[3] = {
		{ .fd = a->tell, .events = POLLIN }, { .fd = a->timer, .events = POLLIN }, { .fd = a->end, .events = POLLIN },
	};
	uint64_t next_interrupt = 0, n;

	while (a->running) {
		poll(p, 3, next_interrupt ? 50 : -1);
		if (p[0].revents && read(a->tell, &n, sizeof(n)) < 0 && errno != EAGAIN)
			break;
		if (p[1].revents && read(a->timer, &n, sizeof(n)) == sizeof(n))
			attention_raise(a, ATTN_INTERVAL);
		if (p[2].revents && read(a->end, &n, sizeof(n)) == sizeof(n)) {
			/* nobody waits for it: a Ctrl-C that follows is the first, and names are looked up as ever */
			attention_raise(a, ATTN_STOP);
			next_interrupt = next_interrupt ? next_interrupt : now_ns(CLOCK_MONOTONIC) + STOP_GRACE_MS * 1000000ull;
		}
		watch_stop(a, &next_interrupt);
	}
	return NULL;
}

static int start_timer(struct attention *a, uint64_t interval_ms)
{
	struct itimerspec it = {
		.it_interval = { (time_t)(interval_ms / 1000), (long)(interval_ms % 1000) * 1000000 },
	};

	it.it_value = it.it_interval;
	a->timer = -1;
	if (!interval_ms)
		return 0;
	a->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return a->timer < 0 ? -1 : timerfd_settime(a->timer, 0, &it, NULL);
}

static int start_thread(struct attention *a)
{
	sigset_t all, old;
	int rc;

	if (a->embedded && a->timer < 0)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	a->running = true;
	rc = pthread_create(&a->watchdog, NULL, watchdog, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		a->running = false;
	errno = rc;
	return rc ? -1 : 0;
}

static void restore_handlers(void)
{
	for (int i = 0; i < NHANDLED; i++)
		sigaction(handled[i], &previous[i], NULL);
	atomic_store(&active, NULL);
}

/* A child that a script forks (multiprocessing) is not the run: SIGTERM must kill it, even before
 * its first instruction. So these signals stay blocked until the child has the previous handlers
 * again. */
static _Thread_local sigset_t before_fork;

static void block_for_fork(void)
{
	sigset_t ours;

	sigemptyset(&ours);
	for (int i = 0; i < NHANDLED; i++)
		sigaddset(&ours, handled[i]);
	pthread_sigmask(SIG_BLOCK, &ours, &before_fork);
}

static void unblock(void)
{
	pthread_sigmask(SIG_SETMASK, &before_fork, NULL);
}

static void forget_in_child(void)
{
	if (atomic_load(&active))
		restore_handlers();
	unblock();
}

static void watch_forks(void)
{
	pthread_atfork(block_for_fork, unblock, forget_in_child);
}

static void install_handlers(struct attention *a)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sigaction sa = {
		.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | (a->restart ? SA_RESTART : 0),
	};

	pthread_once(&once, watch_forks);
	a->main = pthread_self();
	atomic_store(&active, a);
	sigemptyset(&sa.sa_mask);
	for (int i = 0; i < NHANDLED; i++) {
		sigaction(handled[i], &sa, &previous[i]);
		if (handled[i] == SIGHUP && previous[i].sa_handler == SIG_IGN)
			sigaction(SIGHUP, &previous[i], NULL);   /* started by nohup: keep ignoring SIGHUP */
	}
}

int attention_start(struct attention *a, uint64_t interval_ms, struct fault *f)
{
	char hint[256];

	a->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	a->tell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	a->end = a->embedded ? -1 : timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (a->kick < 0 || a->tell < 0 || (a->end < 0 && !a->embedded) || start_timer(a, interval_ms) || start_thread(a)) {
		fault_set(f, EXIT_FAILED, "cannot start the event loop: %s%s", strerror(errno),
			  descriptors_hint(errno, hint, sizeof(hint)));
		attention_stop(a);
		return -1;
	}
	if (!a->embedded)
		install_handlers(a);
	return 0;
}

void attention_stop(struct attention *a)
{
	if (atomic_load(&active) == a)
		restore_handlers();
	if (a->running) {
		a->running = false;
		poke(a->tell);
		pthread_join(a->watchdog, NULL);
	}
	if (a->timer >= 0)
		close(a->timer);
	if (a->end >= 0)
		close(a->end);
	if (a->kick >= 0)
		close(a->kick);
	if (a->tell >= 0)
		close(a->tell);
	a->timer = a->end = a->kick = a->tell = -1;
}

int attention_end_after(struct attention *a, uint64_t ns)
{
	const struct itimerspec when = { .it_value = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) } };

	return timerfd_settime(a->end, 0, &when, NULL);
}
