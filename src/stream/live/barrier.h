/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watermark of ordered delivery: a time below which no ring can still write.
 *
 * The rule. The kernel takes a sample's time and publishes it in the ring within one
 * section with preemption off. Let R be the latest time that was read from any ring:
 * when R was read, the clock had passed R, so a sample with a time below R that is not
 * yet visible is inside its section right now. membarrier(GLOBAL) returns after every
 * CPU has left the section it was in when the call began (it is a grace period of RCU).
 * So once a membarrier that began after R was read has returned, every sample below R is
 * in a ring: a ring that was read to the end it has then can bring no more of them, and
 * once all rings were, R is the watermark.
 *
 * membarrier takes some 10 ms, so a thread of its own runs it while rings are drained.
 * Where the kernel has none (nohz_full, seccomp), the same role is played by an age of
 * 100 ms, which is no proof; what comes later is delivered and counted as late.
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
	int ask;                        /* eventfd: a new time was asked for */
	int kick;                       /* eventfd of the loop, owned by it */
	_Atomic uint64_t asked;
	_Atomic uint64_t passed;        /* barriers began after this time was read */
	_Atomic bool ending;
};

/* 0 or -errno. */
int barrier_start(struct barrier *b, int kick);
void barrier_stop(struct barrier *b);
/* R was read from a ring just now. Cheap; may be called for every round. */
void barrier_ask(struct barrier *b, uint64_t r);
/* All samples up to this time are in the rings that are read from now on. */
uint64_t barrier_passed(const struct barrier *b);
/* Every CPU has left the section it is in now. Takes some 10 ms. */
void barrier_wait(void);

#endif
