/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may take long, done by a thread while the one that wants it goes on reading rings: one after
 * another, in the order in which they were sent. From errands_send() until errands_is_done() says so, what an
 * errand works on is the thread's alone.
 */
#ifndef SYMBOLS_ERRAND_H
#define SYMBOLS_ERRAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct errands;

struct errand {
	void (*run)(struct errand *e);
	struct errand *next;
	_Atomic bool done;
};

/* The thread begins with the first errand. NULL without memory. */
struct errands *errands_new(void);
/* Those that wait are not done any more. False: the one that is on does not end, and what it works on has to stay. */
bool errands_free(struct errands *e);
/* False: there is no thread, and the caller has to do it. So it is in a child of the process that made e. */
bool errands_send(struct errands *e, struct errand *errand);
/* Whether it is done, now or within so many ns. */
bool errands_wait(struct errands *e, struct errand *errand, uint64_t ns);
/* False in a child of the process that made e: the thread is not there. */
bool errands_is_here(const struct errands *e);
/* Whether this is the thread. */
bool errands_is_thread(const struct errands *e);
#endif
