/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/rings/ring_private.h"

#include "perfevent/open/event.h"
#include "perfevent/open/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void pev_ring_attach_(struct pev_ring *ring, struct perf_event_mmap_page *page, void *data,
		      uint64_t size)
{
	ring->page = page;
	ring->data = data;
	ring->mask = size - 1;
	ring->pos = ring->released = ring->head = page->data_tail & ~7ULL;
}

const struct perf_event_header *pev_ring_wrapped_(struct pev_ring *ring, uint64_t at,
						  uint16_t size)
{
	uint64_t first = ring->mask + 1 - at;

	/* with a bad data_head, a record can seem longer than the ring */
	if (size > ring->mask + 1)
		return pev_ring_abandon_(ring);
	memcpy(ring->scratch, ring->data + at, first);
	memcpy(ring->scratch + first, ring->data, size - first);
	/* the size that was checked, even if the ring has changed meanwhile */
	((struct perf_event_header *)ring->scratch)->size = size;
	return (const struct perf_event_header *)ring->scratch;
}

const struct perf_event_header *pev_ring_abandon_(struct pev_ring *ring)
{
	/* the oldest record of an overwrite ring is partly overwritten: not damage */
	if (!ring->backward)
		ring->damaged++;
	ring->pos = ring->head;
	return NULL;
}

static int map_failed(struct pev_ring *ring, const struct pev_event *ev, unsigned int pages,
		      struct pev_error *err)
{
	int code = errno;

	free(ring);
	return pev_explain_map(err, ev, pages, code);
}

static int map_ring(struct pev_ring **out, struct pev_event *ev, unsigned int pages, bool backward,
		    struct pev_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size;
	/* the kernel overwrites old records if the mapping is read-only */
	int prot = backward ? PROT_READ : PROT_READ | PROT_WRITE;
	struct pev_ring *ring;
	void *map;

	*out = NULL;
	if (!pages)
		pages = PEV_RING_DEFAULT_PAGES;
	if (pages & (pages - 1))
		return pev_explain_map(err, ev, pages, EINVAL);
	/* a second mapping would be the same ring: two readers would release each other's records */
	if (ev->mapped)
		return pev_explain_map(err, ev, pages, EBUSY);
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return pev_explain_map(err, ev, pages, ENOMEM);
	size = (size_t)pages * page;
	map = mmap(NULL, size + page, prot, MAP_SHARED, ev->fd, 0);
	if (map == MAP_FAILED)
		return map_failed(ring, ev, pages, err);
	ring->map_size = size + page;
	ring->ev = ev;
	ring->backward = backward;
	ev->has_ring = ev->mapped = true;
	pev_ring_attach_(ring, map, (char *)map + page, size);
	*out = ring;
	return 0;
}

int pev_ring_map(struct pev_ring **out, struct pev_event *ev, unsigned int pages,
		 struct pev_error *err)
{
	return map_ring(out, ev, pages, false, err);
}

int pev_ring_map_overwrite(struct pev_ring **out, struct pev_event *ev, unsigned int pages,
			   struct pev_error *err)
{
	if (ev->attr.write_backward)
		return map_ring(out, ev, pages, true, err);
	*out = NULL;
	/* without write_backward, the start of the oldest record is unknown */
	pev_explain_map(err, ev, pages, EINVAL);
	if (err)
		snprintf(err->remedy, sizeof(err->remedy), "an overwrite ring needs an event opened "
			 "with write_backward (Linux 4.7)");
	return -EINVAL;
}

void pev_ring_unmap(struct pev_ring *ring)
{
	if (!ring)
		return;
	if (ring->map_size)
		munmap(ring->page, ring->map_size);
	if (ring->ev)
		ring->ev->has_ring = ring->ev->mapped = ring->ev->foreign = false;
	free(ring);
}

uint64_t pev_ring_begin(struct pev_ring *ring)
{
	return ring->backward ? pev_ring_begin_backward_(ring) : pev_ring_begin_(ring);
}

const struct perf_event_header *pev_ring_next(struct pev_ring *ring)
{
	return pev_ring_next_(ring);
}

int pev_ring_decode(const struct pev_ring *ring, const struct perf_event_header *rec,
		    struct pev_record *out)
{
	struct pev_format format;

	if (ring->ev->foreign)
		return -EOPNOTSUPP;
	pev_format_from_attr(&format, &ring->ev->attr);
	return pev_decode(rec, rec->size, &format, out);
}

void pev_ring_release(struct pev_ring *ring)
{
	if (!ring->backward)
		pev_ring_release_(ring);
}

void pev_ring_end(struct pev_ring *ring)
{
	if (ring->backward)
		pev_ring_end_backward_(ring);
	else
		pev_ring_release_(ring);
}

size_t pev_ring_size(const struct pev_ring *ring)
{
	return ring->mask + 1;
}

uint64_t pev_ring_damaged(const struct pev_ring *ring)
{
	return ring->damaged;
}

bool pev_ring_has_record(const struct pev_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) != ring->pos;
}

int pev_ring_fd(const struct pev_ring *ring)
{
	return ring->ev ? ring->ev->fd : -1;
}
