/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow work in a thread, while the sender continues to read ring buffers. The thread runs errands one after another,
 * in the order in which they were sent; urgent ones come first. From errands_send() until errand.done is true, only
 * the thread may access the errand's data.
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

/* The thread is started by the first errand. NULL: out of memory. */
struct errands *errands_new(void);
/* Drops the errands that have not begun. False: the current one does not end; its data must not be freed. */
bool errands_free(struct errands *e);
/* urgent: run it before the waiting ones. False: there is no thread (as in a child of the process that made e), and
 * the caller must run the errand. */
bool errands_send(struct errands *e, struct errand *errand, bool urgent);
/* Waits up to `ns`. Returns whether the errand is done. */
bool errands_wait(struct errands *e, struct errand *errand, uint64_t ns);
/* False in a child of the process that made e: it has no thread. */
bool errands_is_here(const struct errands *e);
/* Whether the caller is the thread. */
bool errands_is_thread(const struct errands *e);
#endif
