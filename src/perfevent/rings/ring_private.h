/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring's inside, for the hot path of our own program and for tests that lay a ring
 * into plain memory.
 *
 * data_head and data_tail only grow; a position is taken modulo the size, a power of
 * two. begin() loads data_head once (acquire: the records below it are complete) and
 * the drain goes no further. end() publishes data_tail once (release: we are done with
 * the bytes below it).
 */
#ifndef PERFEVENT_RINGS_RING_PRIVATE_H
#define PERFEVENT_RINGS_RING_PRIVATE_H

#include "perfevent.h"

#include <string.h>

struct pev_ring {
	struct perf_event_mmap_page *page;
	char *data;
	uint64_t mask;           /* size - 1 */
	uint64_t head;           /* where this drain ends */
	uint64_t pos;            /* behind the last record returned */
	uint64_t released;       /* data_tail as we published it */
	uint64_t damaged;
	size_t map_size;         /* 0: memory of a test */
	struct pev_event *ev;    /* NULL: memory of a test */
	bool backward;           /* overwrite ring: see ring_backward.c */
	_Alignas(8) char scratch[PEV_RECORD_MAX_SIZE];
};

/* A ring over `size` bytes at data (a power of two) and a made-up control page. */
void pev_ring_attach_(struct pev_ring *ring, struct perf_event_mmap_page *page, void *data,
		      uint64_t size);
/* The rare ends of pev_ring_next_(): a record that wraps (NULL if it is larger than the
 * whole ring), or one that is none. */
const struct perf_event_header *pev_ring_wrapped_(struct pev_ring *ring, uint64_t at,
						  uint16_t size);
const struct perf_event_header *pev_ring_abandon_(struct pev_ring *ring);

static inline uint64_t pev_ring_begin_(struct pev_ring *ring)
{
	/* records lie on an 8-byte grid: a head off it can't make us look elsewhere */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) & ~7ULL;
	/* more than there is room for: a drain would go round and round in what it has read */
	if (__builtin_expect(ring->head - ring->pos > ring->mask + 1, 0))
		pev_ring_abandon_(ring);
	return ring->head - ring->pos;
}

/* Bytes that the kernel can't write to. */
static inline uint64_t pev_ring_waiting_(const struct pev_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) - ring->released;
}

static inline const struct perf_event_header *pev_ring_next_(struct pev_ring *ring)
{
	uint64_t left = ring->head - ring->pos, at = ring->pos & ring->mask;
	const struct perf_event_header *rec;
	uint16_t size;

	if (!left)
		return NULL;
	rec = (const struct perf_event_header *)(ring->data + at);
	/* the page is shared: the size is read once, then trusted after the check */
	size = __atomic_load_n(&rec->size, __ATOMIC_RELAXED);
	if (__builtin_expect(size < sizeof(*rec) || size & 7 || size > left, 0))
		return pev_ring_abandon_(ring);
	ring->pos += size;
	if (__builtin_expect(at + size > ring->mask + 1, 0))
		return pev_ring_wrapped_(ring, at, size);
	return rec;
}

static inline void pev_ring_release_(struct pev_ring *ring)
{
	if (ring->pos == ring->released)
		return;
	ring->released = ring->pos;
	__atomic_store_n(&ring->page->data_tail, ring->pos, __ATOMIC_RELEASE);
}

/* ring_backward.c: begin() and end() of overwrite rings. next() is the same: a drain goes
 * from data_head upwards to where the oldest record ends. */
uint64_t pev_ring_begin_backward_(struct pev_ring *ring);
void pev_ring_end_backward_(struct pev_ring *ring);

#endif
