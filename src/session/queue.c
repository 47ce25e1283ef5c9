/* SPDX-License-Identifier: Apache-2.0 */
#include "session/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int queue_begin(struct queue *q)
{
	*q = (struct queue){ .lock = PTHREAD_MUTEX_INITIALIZER, .room = PTHREAD_COND_INITIALIZER, .open = true };
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0)
		return -errno;
	q->v = calloc(QUEUE_BATCHES, sizeof(*q->v));
	q->size = QUEUE_BATCHES;
	return q->v ? 0 : -ENOMEM;
}

void queue_free(struct queue *q)
{
	queue_drop(q);
	free(q->v);
	if (q->fd >= 0)
		close(q->fd);
	q->fd = -1;
	q->v = NULL;
	pthread_cond_destroy(&q->room);
	pthread_mutex_destroy(&q->lock);
}

/* Under lock. */
static void set_readable(struct queue *q)
{
	uint64_t one = 1;
	ssize_t rc = write(q->fd, &one, sizeof(one));

	(void)rc;   /* it is readable already */
}

static void set_unreadable(struct queue *q)
{
	uint64_t n;
	ssize_t rc = read(q->fd, &n, sizeof(n));

	(void)rc;   /* it was not readable */
}

/* Only once nobody waits for room: what the rings held, at most. */
static bool grow(struct queue *q)
{
	struct batch **more = calloc(2 * q->size, sizeof(*more));

	if (!more)
		return false;
	for (size_t i = 0; i < q->n; i++)
		more[i] = q->v[(q->first + i) % q->size];
	free(q->v);
	q->v = more;
	q->first = 0;
	q->size *= 2;
	return true;
}

void queue_put(struct queue *q, struct batch *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&q->lock);
	while (q->n >= QUEUE_BATCHES && !q->unbounded)
		pthread_cond_wait(&q->room, &q->lock);
	if (q->n < q->size || grow(q)) {
		q->v[(q->first + q->n++) % q->size] = b;
		set_readable(q);
		b = NULL;
	} else {
		q->refused += b->rows;
	}
	pthread_mutex_unlock(&q->lock);
	batch_release(b);
}

bool queue_is_full(struct queue *q)
{
	return queue_count(q) >= QUEUE_BATCHES;
}

bool queue_wait(struct queue *q)
{
	bool full;

	pthread_mutex_lock(&q->lock);
	while (q->n >= QUEUE_BATCHES && !q->unbounded && !q->poked)
		pthread_cond_wait(&q->room, &q->lock);
	q->poked = false;
	full = q->n >= QUEUE_BATCHES && !q->unbounded;
	pthread_mutex_unlock(&q->lock);
	return !full;
}

void queue_poke(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->poked = true;
	pthread_cond_broadcast(&q->room);
	pthread_mutex_unlock(&q->lock);
}

struct batch *queue_get(struct queue *q, bool *ended)
{
	struct batch *b = NULL;

	pthread_mutex_lock(&q->lock);
	if (q->n) {
		b = q->v[q->first];
		q->first = (q->first + 1) % q->size;
		if (!--q->n && q->open)
			set_unreadable(q);
		pthread_cond_signal(&q->room);
	}
	*ended = !b && !q->open;
	pthread_mutex_unlock(&q->lock);
	return b;
}

void queue_release(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->unbounded = true;
	pthread_cond_broadcast(&q->room);
	pthread_mutex_unlock(&q->lock);
}

void queue_end(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->open = false;
	set_readable(q);
	pthread_mutex_unlock(&q->lock);
}

bool queue_has_ended(struct queue *q)
{
	bool open;

	pthread_mutex_lock(&q->lock);
	open = q->open;
	pthread_mutex_unlock(&q->lock);
	return !open;
}

void queue_drop(struct queue *q)
{
	struct batch *b;
	bool ended;

	while (q->v && (b = queue_get(q, &ended)))
		batch_release(b);
}

size_t queue_count(struct queue *q)
{
	size_t n;

	pthread_mutex_lock(&q->lock);
	n = q->n;
	pthread_mutex_unlock(&q->lock);
	return n;
}
