/* SPDX-License-Identifier: Apache-2.0 */
#include "base/now.h"
#include "perfevent/open/event.h"
#include "perfevent/open/explain.h"
#include "perfevent/open/target.h"
#include "perfevent/rings/ring_private.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- backward --------------------------------------------------------------------------- */

/*
 * Overwrite rings. The kernel writes records from the end to the beginning, and data_head counts
 * down from 0:
 *
 *   data_head                                      data_head + size
 *   | newest record | next older | ... | oldest record, partly overwritten
 *
 * A drain that starts at data_head finds valid headers, except for the oldest record, which
 * reaches beyond the end of the ring.
 */

/* A writer on another CPU that checked `paused` before it was set may still be writing. Writers
 * run with preemption disabled, and the barrier waits until every CPU has been through the
 * scheduler, so it waits for them. If the kernel refuses it (nohz_full), a record that is being
 * written may be read incompletely. The calling thread itself is not writing. */
static void wait_for_writers(const struct pev_event *ev)
{
	if (pev_target_is_self_(ev->target))
		return;
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static uint64_t pev_ring_begin_backward_(struct pev_ring *ring)
{
	uint64_t size = ring->mask + 1, written;

	if (ring->ev) {
		pev_event_pause_output(ring->ev, true);
		wait_for_writers(ring->ev);
	}
	ring->pos = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) & ~7ULL;
	written = 0 - ring->pos;
	if (written > size)
		written = size;
	ring->head = ring->pos + written;
	return written;
}

static void pev_ring_end_backward_(struct pev_ring *ring)
{
	ring->pos = ring->head;
	if (ring->ev)
		pev_event_pause_output(ring->ev, false);
}

/* ---- wait ------------------------------------------------------------------------------- */

/*
 * Waiting for a ring. Results of poll(2) for an event:
 *   POLLIN   a wake-up since the last poll, which clears it
 *   POLLHUP  the watched task has ended, or the event has no ring
 *   POLLERR  a pinned event lost its place (Linux 6.15)
 */

/* The result of poll(2) for ev, 0 = timeout, or -errno. */
static int wait_fd(int fd, int timeout_ms, int cancel_fd)
{
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN },
				 { .fd = cancel_fd, .events = POLLIN } };
	int rc = poll(fds, 2, timeout_ms);

	if (rc < 0)
		return -errno;
	if (fds[1].revents)
		return -ECANCELED;
	return fds[0].revents;
}

int pev_event_wait(struct pev_event *ev, int timeout_ms, int cancel_fd)
{
	int got;

	if (!ev->has_ring)
		return -EINVAL;
	got = wait_fd(ev->fd, timeout_ms, cancel_fd);
	if (got <= 0)
		return got;
	if (got & POLLIN)
		return 1;
	return got & POLLERR ? -ENODATA : -ESRCH;
}

static int64_t now_ms(void)
{
	return (int64_t)(now_ns(CLOCK_MONOTONIC) / 1000000);
}

/* A wake-up for records that have been read already does not count: waits for the rest of the time. */
static int wait_for_record(struct pev_ring *ring, int timeout_ms, int cancel_fd)
{
	int64_t end = now_ms() + timeout_ms, left;
	int rc;

	do {
		rc = pev_event_wait(ring->ev, timeout_ms, cancel_fd);
		if (rc != 1 || pev_ring_has_record(ring))
			return rc;
		left = end - now_ms();
		timeout_ms = timeout_ms < 0 ? -1 : left > 0 ? (int)left : 0;
	} while (timeout_ms);
	return 0;
}

int pev_ring_wait(struct pev_ring *ring, int timeout_ms, int cancel_fd)
{
	int rc;

	if (!ring->ev)
		return pev_ring_has_record(ring);
	if (ring->backward)
		return pev_event_wait(ring->ev, timeout_ms, cancel_fd);
	rc = wait_for_record(ring, timeout_ms, cancel_fd);
	/* there may be too few records for a wake-up, and no more will come */
	if ((rc == 0 || rc == -ESRCH || rc == -ENODATA) && pev_ring_has_record(ring))
		return 1;
	return rc;
}

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
