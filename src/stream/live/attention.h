/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What interrupts a drain. One atomic word is read before each callback; signal
 * handlers, the interval timer and the watchdog set bits in it and kick the loop's
 * epoll through an eventfd.
 *
 * The watchdog is a thread with all signals blocked. It sleeps on the interval's
 * timerfd and on an eventfd that the signal handler writes:
 *   - interval passed: sets ATTN_INTERVAL (a drain of 1 MiB can be 14,000 callbacks,
 *     so the loop's own epoll would be too late);
 *   - first SIGINT or SIGTERM: sets ATTN_DEADLINE after 500 ms, calls interrupt() 50 ms later,
 *     and again every 500 ms;
 *   - second one: calls last_words() and ends the process with 130.
 */
#ifndef STREAM_LIVE_ATTENTION_H
#define STREAM_LIVE_ATTENTION_H

#include "base/fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	ATTN_STOP = 1,         /* SIGINT, SIGTERM, SIGHUP or the consumer */
	ATTN_INTERVAL = 2,
	ATTN_STAT = 4,         /* SIGUSR2 */
	ATTN_REOPEN = 8,       /* SIGUSR1 */
	ATTN_DEADLINE = 16,    /* 500 ms have passed since the stop */
	ATTN_LOOK = 32,        /* nothing but: the loop's own state has changed */
};

/* What is being called at the deadline may return by itself before it is interrupted. */
enum { STOP_GRACE_MS = 500, RETURN_GRACE_MS = 50 };

struct attention {
	_Atomic unsigned int bits;
	_Atomic int stops;             /* signals that asked to stop */
	_Atomic uint64_t stop_ns;      /* CLOCK_MONOTONIC of the first */
	pthread_mutex_t lock;
	bool delivering;               /* under lock: the consumer is being handed events */
	void (*nudge)(void *ctx);      /* called in the handler of a SIGINT that the watchdog sent */
	pthread_t main;
	int kick;                      /* eventfd for the loop */
	int tell;                      /* eventfd for the watchdog */
	int timer;                     /* timerfd of the interval, or -1 */
	pthread_t watchdog;
	_Atomic bool running;
	bool past_deadline;            /* the watchdog's own */
	bool restart;                  /* system calls go on after a signal: what was written is whole */
	void (*interrupt)(void *ctx);
	void (*last_words)(void *ctx);
	void *ctx;
};

/* Installs the signal handlers and starts the watchdog; one per process at a time. */
int attention_start(struct attention *a, uint64_t interval_ms, struct fault *f);
/* Restores the handlers that were there and ends the watchdog. */
void attention_stop(struct attention *a);
void attention_raise(struct attention *a, unsigned int bits);
/* Runs nudge() in a signal handler on the main thread, whose system call returns EINTR. */
void attention_nudge(struct attention *a);
uint64_t attention_now(void);   /* CLOCK_MONOTONIC, ns */

static inline unsigned int attention_pending(const struct attention *a)
{
	return atomic_load_explicit(&a->bits, memory_order_relaxed);
}
#endif
