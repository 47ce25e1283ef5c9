/* SPDX-License-Identifier: Apache-2.0 */
#include "base/note.h"
#include "base/units.h"
#include "stream/list/openattr.h"
#include "stream/rings/grow.h"
#include "stream/state/state.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* All rings together use at most 1/32 of memory. With more than MAX_EVENTS events, redirecting
 * would take too long. */
enum { FACTOR = 4, MAX_RING = 64 << 20, PART_OF_MEMORY = 32, MAX_EVENTS = 32 };

struct growth {
	struct stream *s;
	struct ring *old;
	pthread_t thread;
	pid_t tid;                   /* the thread that owns the events of the rings */
	struct pev_event *owner;     /* NULL: it could not be opened */
	struct pev_ring *ring;
	const struct opened *stuck;  /* an event that could not be redirected, and was disabled: a bug */
	bool limited;                /* the limit on locked memory forbade a larger ring */
	bool joined;
	_Atomic bool ready;          /* nothing is written into the old ring any more */
};

/* ---- the thread ---------------------------------------------------------------------- */

/* Tries FACTOR times the old size, and less if the limit on locked memory requires it. False:
 * nothing larger fits. */
static bool map_larger(struct growth *g)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = pev_ring_size(g->old->ring);
	int rc;

	for (uint64_t bytes = size * FACTOR; bytes > size; bytes /= 2) {
		if (open_ring_owner(g->s, g->old->cpu, g->tid, &g->owner, NULL))
			return false;
		rc = pev_ring_map(&g->ring, g->owner, (unsigned int)(bytes / page), NULL);
		if (!rc)
			return true;
		g->limited = rc == -EPERM;
		pev_event_close(g->owner);
		g->owner = NULL;
	}
	return false;
}

static void redirect(struct growth *g)
{
	for (size_t i = 0; i < g->s->rings.nopened; i++) {
		const struct opened *o = &g->s->rings.opened[i];

		if (o->ring != g->old || !pev_event_set_output(o->ev, g->owner))
			continue;
		pev_event_disable(o->ev);
		g->stuck = o;
	}
}

static void *run(void *arg)
{
	struct growth *g = arg;

	if (map_larger(g)) {
		redirect(g);
		barrier_wait();   /* writers may have chosen the old ring before */
	}
	atomic_store(&g->ready, true);
	return NULL;
}

/* ---- the loop's side ------------------------------------------------------------------- */

static size_t events_of(const struct stream *s, const struct ring *ring)
{
	size_t n = 0;

	for (size_t i = 0; i < s->rings.nopened; i++)
		n += s->rings.opened[i].ring == ring;
	return n;
}

void grow_allow(struct stream *s, bool fixed)
{
	struct sysinfo si;

	sysinfo(&si);
	s->rings.most_bytes = fixed ? 0 : (uint64_t)si.totalram * si.mem_unit / PART_OF_MEMORY;
	for (size_t i = 0; i < s->rings.n; i++)
		s->rings.v[i].full_grown = fixed || events_of(s, &s->rings.v[i]) > MAX_EVENTS;
}

/* Bytes of the larger rings that are on their way, at most. */
static uint64_t bytes_to_come(const struct stream *s)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->rings.n; i++)
		bytes += s->rings.v[i].growth ? pev_ring_size(s->rings.v[i].ring) * FACTOR : 0;
	return bytes;
}

static void begin(struct stream *s, struct ring *ring)
{
	uint64_t larger = pev_ring_size(ring->ring) * FACTOR;
	sigset_t all, old;
	struct growth *g;

	ring->full_grown |= larger > MAX_RING || s->loss.totals.ring_bytes + bytes_to_come(s)
		+ larger > s->rings.most_bytes;
	g = ring->full_grown ? NULL : calloc(1, sizeof(*g));
	if (!g)
		return;
	g->s = s;
	g->old = ring;
	g->tid = gettid();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&g->thread, NULL, run, g))
		ring->growth = g;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ring->growth)
		return;
	ring->full_grown = true;
	free(g);
}

static void join(struct growth *g)
{
	if (!g->joined)
		pthread_join(g->thread, NULL);
	g->joined = true;
}

/* Closing a descriptor removes it from epoll only if no other process holds it. */
static void watch_instead(struct stream *s, struct pev_event *old, struct pev_event *owner)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = LOOP_RING };

	epoll_ctl(s->run.epoll, EPOLL_CTL_DEL, pev_event_fd(old), NULL);
	epoll_ctl(s->run.epoll, EPOLL_CTL_ADD, pev_event_fd(owner), &ev);
}

static void tell(const struct stream *s, const struct ring *ring, const struct opened *stuck)
{
	char text[32];

	note(s->opts->verbose, "the ring of CPU %d now has %s", ring->cpu,
	     units_bytes_text(pev_ring_size(ring->ring), text, sizeof(text)));
	if (stuck)
		note(1, "%s is no longer watched on CPU %d: it could not be redirected to a larger ring; "
		     "-m sets a size that stays; please report this", stuck->event->name, ring->cpu);
}

/* Replaces the old ring, which is empty. */
static void exchange(struct stream *s, struct ring *ring)
{
	struct growth *g = ring->growth;
	struct pev_ring *old = ring->ring;
	struct pev_event *owner = ring->owner;

	s->loss.totals.ring_bytes += pev_ring_size(g->ring) - pev_ring_size(old);
	watch_instead(s, owner, g->owner);
	ring->ring = g->ring;
	ring->owner = g->owner;
	ring->growth = NULL;
	ring->damaged = ring->ahead = 0;
	ring->lost_before = ring->lost;
	pev_ring_unmap(old);
	pev_event_close(owner);
	tell(s, ring, g->stuck);
	free(g);
}

bool grow_exchange(struct stream *s, struct ring *ring)
{
	struct growth *g = ring->growth;

	if (!g || !atomic_load(&g->ready) || pev_ring_has_record(ring->ring))
		return false;
	join(g);
	if (g->owner) {
		exchange(s, ring);
		return true;
	}
	s->rings.limited |= g->limited;
	ring->full_grown = true;
	ring->growth = NULL;
	free(g);
	return false;
}

void grow_round(struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct ring *ring = &s->rings.v[i];

		if (ring->growth)
			grow_exchange(s, ring);
		else if (ring->lost != ring->lost_before && !ring->full_grown && !s->run.draining)
			begin(s, ring);
	}
}

bool grow_is_pending(const struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++)
		if (s->rings.v[i].growth)
			return true;
	return false;
}

bool grow_can(const struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++)
		if (!s->rings.v[i].full_grown)
			return true;
	return false;
}

void grow_wait(struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++)
		if (s->rings.v[i].growth)
			join(s->rings.v[i].growth);
}

void grow_free(struct ring *ring)
{
	struct growth *g = ring->growth;

	if (!g)
		return;
	pev_ring_unmap(g->ring);
	if (g->owner)
		pev_event_close(g->owner);
	free(g);
	ring->growth = NULL;
}
