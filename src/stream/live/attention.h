/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What interrupts the delivery of events. The loop reads one atomic word before each callback.
 * Signal handlers, the interval timer and the watchdog set bits in it, and wake the loop's epoll
 * through an eventfd.
 *
 * The watchdog is a thread with all signals blocked. It waits for the timerfd of the interval and
 * for an eventfd that the signal handler writes:
 *   - the interval has passed: sets ATTN_INTERVAL. (One drain of 1 MiB can be 14,000 callbacks: the
 *     loop's own epoll would notice too late.)
 *   - first SIGINT, SIGTERM or SIGHUP, or the time of --seconds has passed: sets ATTN_DEADLINE after 500 ms; calls interrupt() 50 ms later, then
 *     every 500 ms;
 *   - second one, or the first after a run that ended without one: calls last_words(), which ends the process with status 130.
 */
#ifndef STREAM_LIVE_ATTENTION_H
#define STREAM_LIVE_ATTENTION_H

#include "base/fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	ATTN_STOP = 1,         /* SIGINT, SIGTERM or SIGHUP */
	ATTN_INTERVAL = 2,
	ATTN_STAT = 4,         /* SIGUSR2 */
	ATTN_REOPEN = 8,       /* SIGUSR1 */
	ATTN_DEADLINE = 16,    /* STOP_GRACE_MS have passed since the signal */
	ATTN_LOOK = 32,        /* no request: the loop's own state has changed */
};

/* A callback that runs at the deadline gets RETURN_GRACE_MS to return by itself before it is
 * interrupted. */
enum { STOP_GRACE_MS = 500, RETURN_GRACE_MS = 50 };

struct attention {
	_Atomic unsigned int bits;
	_Atomic int stops;             /* number of signals that asked to stop */
	_Atomic bool ended;            /* the run has ended without one: the first is enough */
	_Atomic uint64_t stop_ns;      /* CLOCK_MONOTONIC time of the first one */
	pthread_mutex_t lock;
	bool delivering;               /* under lock: a callback of the consumer runs */
	void (*nudge)(void *ctx);      /* called in the signal handler after attention_nudge() */
	pthread_t main;
	int kick;                      /* eventfd for the loop */
	int tell;                      /* eventfd for the watchdog */
	int timer;                     /* timerfd of the interval; -1: none */
	int end;                       /* timerfd of attention_end_after(); -1: none */
	pthread_t watchdog;
	_Atomic bool running;
	bool past_deadline;            /* used by the watchdog only */
	bool embedded;                 /* no signal handlers */
	bool restart;                  /* SA_RESTART: signals do not cut writes short */
	void (*interrupt)(void *ctx);
	void (*last_words)(void *ctx);
	void *ctx;
};

/* Installs the signal handlers and starts the watchdog. Only one per process at a time, but any number of embedded ones,
 * which need the watchdog for an interval only. 0, or -1 with f. */
int attention_start(struct attention *a, uint64_t interval_ms, struct fault *f);
/* Restores the previous handlers and ends the watchdog. */
void attention_stop(struct attention *a);
/* After so many ns, ATTN_STOP and ATTN_DEADLINE are set as after a signal. Not if embedded. 0, or -1 with errno. */
int attention_end_after(struct attention *a, uint64_t ns);
void attention_raise(struct attention *a, unsigned int bits);
/* Runs nudge() in a signal handler on the main thread, so that a blocking system call there returns
 * EINTR. */
void attention_nudge(struct attention *a);

static inline unsigned int attention_pending(const struct attention *a)
{
	return atomic_load_explicit(&a->bits, memory_order_relaxed);
}
#endif
