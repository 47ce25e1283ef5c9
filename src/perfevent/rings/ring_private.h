/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the ring buffer, for perf-prof's own hot path and for tests with a ring in plain
 * memory.
 *
 *   data_tail        pos              head = data_head at begin()
 *      |  read by us  |  still unread  |   being written ...
 *      +--------------+----------------+
 *
 * data_head and data_tail only grow; a position is taken modulo the size, a power of two. begin()
 * loads data_head once (acquire: the records before it are complete), and the drain ends there.
 * end() publishes data_tail once (release: the bytes before it may be overwritten).
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
	uint64_t pos;            /* end of the last record returned */
	uint64_t released;       /* data_tail as last published */
	uint64_t damaged;
	size_t map_size;         /* 0: memory of a test */
	struct pev_event *ev;    /* NULL: memory of a test */
	bool backward;           /* overwrite ring */
	_Alignas(8) char scratch[PEV_RECORD_MAX_SIZE];
};

/* A ring over `size` bytes at data (a power of two) with a control page made by a test. */
void pev_ring_attach_(struct pev_ring *ring, struct perf_event_mmap_page *page, void *data,
		      uint64_t size);
/* Slow paths of pev_ring_next_(): a record that wraps (NULL if it is larger than the ring), and a
 * damaged record. */
const struct perf_event_header *pev_ring_wrapped_(struct pev_ring *ring, uint64_t at,
						  uint16_t size);
const struct perf_event_header *pev_ring_abandon_(struct pev_ring *ring);

static inline uint64_t pev_ring_begin_(struct pev_ring *ring)
{
	/* records are 8-byte aligned: this keeps a bad data_head from causing unaligned reads */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) & ~7ULL;
	/* more than the ring holds: the drain would read the same bytes several times */
	if (__builtin_expect(ring->head - ring->pos > ring->mask + 1, 0))
		pev_ring_abandon_(ring);
	return ring->head - ring->pos;
}

/* Bytes that the kernel cannot overwrite yet. */
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
	/* the page is shared memory: the size is read once, then checked and used */
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
#endif
