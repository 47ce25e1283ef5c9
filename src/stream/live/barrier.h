/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watermark of ordered delivery: a time before which no ring can receive another sample.
 *
 * The kernel takes the time of a sample and publishes the sample in the ring within one section
 * with preemption disabled. Let R be the latest time read from any ring. When R was read, the clock
 * had passed R, so a sample with a time before R that is not yet visible is inside its section at
 * that moment. membarrier(MEMBARRIER_CMD_GLOBAL) returns after every CPU has left the section it
 * was in when the call began: it waits for an RCU grace period.
 *
 *	R read  ->  membarrier begins  ->  membarrier returns  ->  every ring read to its end
 *	                                   all samples < R are     watermark = R
 *	                                   in the rings
 *
 * membarrier takes about 10 ms, so a separate thread calls it while rings are read. Where it is not
 * available (nohz_full, seccomp), the thread waits 100 ms instead. That is no guarantee: samples
 * that come later are delivered, and counted as late.
 */
#ifndef STREAM_LIVE_BARRIER_H
#define STREAM_LIVE_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct barrier {
	pthread_t thread;
	bool running;
	int ask;                        /* eventfd: wakes the thread for a new time */
	int kick;                       /* eventfd of the loop; not owned */
	_Atomic uint64_t asked;
	_Atomic uint64_t passed;        /* a membarrier that began after this time was read has returned */
	_Atomic bool ending;
};

/* 0 or -errno. */
int barrier_start(struct barrier *b, int kick);
void barrier_stop(struct barrier *b);
/* Reports that R was read from a ring. Cheap: may be called in every round. */
void barrier_ask(struct barrier *b, uint64_t r);
/* All samples up to this time are in the rings, for every read that begins now. */
uint64_t barrier_passed(const struct barrier *b);
/* Waits, about 10 ms, until every CPU has left the section it is in. */
void barrier_wait(void);

#endif
