/* SPDX-License-Identifier: Apache-2.0 */
/* Batches on their way from the thread of a session to whoever takes them, with an eventfd that is
 * readable while something is there, and after the end. */
#ifndef SESSION_QUEUE_H
#define SESSION_QUEUE_H

#include "columns/batch.h"

#include <pthread.h>

/* The thread waits if so many batches are not taken. */
enum { QUEUE_BATCHES = 4 };

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t room;
	struct batch **v;               /* a ring of `size` entries */
	size_t size, first, n;
	int fd;
	bool open;                      /* batches may come */
	bool unbounded;                 /* nobody waits for room any more */
	bool poked;                     /* queue_wait() is to return */
	uint64_t refused;               /* rows that found no memory */
};

/* 0 or -errno. */
int queue_begin(struct queue *q);
void queue_free(struct queue *q);
/* Takes over the batch. Waits for room. */
void queue_put(struct queue *q, struct batch *b);
bool queue_is_full(struct queue *q);
/* Until there is room, or queue_poke() was called. Whether there is room. */
bool queue_wait(struct queue *q);
void queue_poke(struct queue *q);
/* The next one, or NULL; *ended: none will come. */
struct batch *queue_get(struct queue *q, bool *ended);
/* queue_put() does not wait any more. */
void queue_release(struct queue *q);
/* No more batches come. */
void queue_end(struct queue *q);
bool queue_has_ended(struct queue *q);
void queue_drop(struct queue *q);
size_t queue_count(struct queue *q);
#endif
