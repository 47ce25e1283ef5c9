/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/backlog.h"

#include "perfevent/rings/ring_private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TICK_MS = 50, FULL_TICK_MS = 5 };

struct backlog {
	pthread_mutex_t lock;              /* held while bytes are moved */
	struct pev_ring *kernel;
	struct perf_event_mmap_page page;  /* control page of the larger ring: its data_head and data_tail */
	size_t size;
	char *data;
	uint64_t head;                     /* bytes written so far */
	bool damaged;                      /* damage in the kernel's ring that is not yet in the larger one */
	struct pev_ring ring;
};

/* ---- one backlog ---------------------------------------------------------- */

struct backlog *backlog_new(struct pev_ring *kernel, size_t size)
{
	struct backlog *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->data = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->data == MAP_FAILED) {
		free(b);
		return NULL;
	}
	pthread_mutex_init(&b->lock, NULL);
	b->kernel = kernel;
	b->size = size;
	pev_ring_attach_(&b->ring, &b->page, b->data, size);
	return b;
}

void backlog_free(struct backlog *b)
{
	if (!b)
		return;
	pev_ring_unmap(b->kernel);
	munmap(b->data, b->size);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

struct pev_ring *backlog_ring(struct backlog *b)
{
	return &b->ring;
}

static uint16_t size_at(const struct pev_ring *ring, uint64_t pos)
{
	const struct perf_event_header *rec =
		(const struct perf_event_header *)(ring->data + (pos & ring->mask));

	return __atomic_load_n(&rec->size, __ATOMIC_RELAXED);
}

/* Bytes of whole records, at most `room`. Stops at a malformed record: its bytes are moved with the
 * rest once there is room for all of it, and the reader then detects the damage. */
static uint64_t whole_records(const struct pev_ring *ring, uint64_t from, uint64_t waiting,
			      uint64_t room)
{
	uint64_t n = 0;

	if (waiting <= room)
		return waiting;
	while (n < waiting) {
		uint16_t size = size_at(ring, from + n);

		if (size < sizeof(struct perf_event_header) || size & 7 || n + size > room)
			break;
		n += size;
	}
	return n;
}

static void copy_bytes(struct backlog *b, uint64_t from, uint64_t n)
{
	const struct pev_ring *k = b->kernel;

	while (n) {
		uint64_t source = from & k->mask, target = b->head & (b->size - 1), part = n;

		if (part > k->mask + 1 - source)
			part = k->mask + 1 - source;
		if (part > b->size - target)
			part = b->size - target;
		memcpy(b->data + target, k->data + source, part);
		b->head += part;
		from += part;
		n -= part;
	}
}

/* Writes a malformed header, so that the reader detects and counts the damage. */
static void put_damage(struct backlog *b, uint64_t tail)
{
	if (!b->damaged || b->size - (b->head - tail) < sizeof(uint64_t))
		return;
	memset(b->data + (b->head & (b->size - 1)), 0, sizeof(uint64_t));
	b->head += sizeof(uint64_t);
	b->damaged = false;
}

uint64_t backlog_move(struct backlog *b)
{
	struct pev_ring *k = b->kernel;
	uint64_t waiting, tail, n, damaged;

	pthread_mutex_lock(&b->lock);
	damaged = k->damaged;
	waiting = pev_ring_begin_(k);
	b->damaged |= k->damaged != damaged;   /* data_head had run past data_tail + size */
	tail = __atomic_load_n(&b->page.data_tail, __ATOMIC_ACQUIRE);
	put_damage(b, tail);
	n = whole_records(k, k->pos, waiting, b->size - (b->head - tail));
	copy_bytes(b, k->pos, n);
	k->pos += n;
	pev_ring_release_(k);
	__atomic_store_n(&b->page.data_head, b->head, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&b->lock);
	return waiting - n;
}

/* ---- the thread ----------------------------------------------------------- */

struct backlog_thread {
	pthread_t thread;
	struct backlog **backlogs;
	size_t n;
	int kick;
	int end;                           /* eventfd */
	bool running;
	struct pollfd *fds;                /* `end`, then one for each ring */
	_Atomic bool ending;
};

static void poke(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return;   /* the counter is full: the reader is awake already */
}

static bool move_all(struct backlog_thread *t)
{
	bool left = false, moved = false;

	for (size_t i = 0; i < t->n; i++) {
		const __u64 *head = &t->backlogs[i]->page.data_head;
		uint64_t before = __atomic_load_n(head, __ATOMIC_RELAXED);

		left |= backlog_move(t->backlogs[i]) != 0;
		moved |= __atomic_load_n(head, __ATOMIC_RELAXED) != before;
	}
	if (moved)
		poke(t->kick);
	return left;
}

static void *run(void *arg)
{
	struct backlog_thread *t = arg;
	bool left = false;

	while (!atomic_load(&t->ending)) {
		poll(t->fds, t->n + 1, left ? FULL_TICK_MS : TICK_MS);
		left = move_all(t);
	}
	return NULL;
}

struct backlog_thread *backlog_thread_new(size_t n, int kick)
{
	struct backlog_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->kick = kick;
	t->end = eventfd(0, EFD_CLOEXEC);
	t->backlogs = calloc(n, sizeof(*t->backlogs));
	t->fds = calloc(n + 1, sizeof(*t->fds));
	if (t->end < 0 || !t->backlogs || !t->fds) {
		backlog_thread_stop(t);
		return NULL;
	}
	t->fds[0] = (struct pollfd){ .fd = t->end, .events = POLLIN };
	return t;
}

void backlog_thread_add(struct backlog_thread *t, struct backlog *b, int fd)
{
	t->backlogs[t->n++] = b;
	t->fds[t->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

int backlog_thread_start(struct backlog_thread *t)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&t->thread, NULL, run, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	t->running = !rc;
	return -rc;
}

void backlog_thread_stop(struct backlog_thread *t)
{
	if (!t)
		return;
	if (t->running) {
		atomic_store(&t->ending, true);
		poke(t->end);
		pthread_join(t->thread, NULL);
	}
	if (t->end >= 0)
		close(t->end);
	free(t->fds);
	free(t->backlogs);
	free(t);
}
