/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/ring.h - ring buffers of records */
#ifndef PEV_RING_H
#define PEV_RING_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A ring buffer that the kernel fills with records.
 *
 *   pev_ring_begin(r);                       // one acquire of data_head
 *   while ((rec = pev_ring_next(r)))         // borrowed until the next call
 *           use(rec);
 *   pev_ring_end(r);                         // one release of data_tail
 *
 * begin() fixes where this drain ends, so that it ends even if records are written faster than
 * read. A record is used in place; a record that wraps is copied into the ring's scratch buffer
 * of 64 KiB. next() returns NULL at the end of the drain and at a damaged record (size < 8, not a
 * multiple of 8, or beyond the head): then the rest of the drain is skipped, and
 * pev_ring_damaged() counts it.
 */
struct pev_ring;

#define PEV_RING_DEFAULT_PAGES 128

/* Maps a ring of `pages` data pages (a power of two; 0 = the default) for ev, which must outlive
 * the ring. -EPERM: mlock limit, -EBUSY: ev has a ring, -ENOMEM, -EINVAL; explained in err. A
 * child of fork(2) does not have the mapping: neither read nor unmap it there. */
PEV_API int pev_ring_map(struct pev_ring **out, struct pev_event *ev, unsigned int pages,
			 struct pev_error *err);
/* Unmaps the ring, which may be NULL. */
PEV_API void pev_ring_unmap(struct pev_ring *ring);
/* Starts a drain; returns the number of bytes waiting. */
PEV_API uint64_t pev_ring_begin(struct pev_ring *ring);
/* The next record, 8-byte aligned, header.size bytes long; NULL at the end. */
PEV_API const struct perf_event_header *pev_ring_next(struct pev_ring *ring);
/* Frees the space of the records returned so far in the middle of a drain. The last record is no
 * longer valid afterwards. */
PEV_API void pev_ring_release(struct pev_ring *ring);
/* Ends the drain and frees the space of the records returned. */
PEV_API void pev_ring_end(struct pev_ring *ring);
/* Size of the data pages in bytes. */
PEV_API size_t pev_ring_size(const struct pev_ring *ring);
/* Number of drains cut short by a damaged record. */
PEV_API uint64_t pev_ring_damaged(const struct pev_ring *ring);

/* True if records are waiting, without a system call or begin(). Not for overwrite rings. */
PEV_API bool pev_ring_has_record(const struct pev_ring *ring);
/* Descriptor for poll, epoll or select: POLLIN at every wake-up, POLLHUP once the watched task
 * has ended. Owned by the event. */
PEV_API int pev_ring_fd(const struct pev_ring *ring);

/*
 * Waits for the ring's wake-up: attr.wakeup_events samples or wakeup_watermark bytes. timeout_ms
 * < 0 waits for ever, 0 does not wait. cancel_fd: a descriptor (such as an eventfd) that ends the
 * wait when it becomes readable, also from another thread or a signal handler; -1 = none.
 * Wake-ups depend on what was written, not on what is unread: drain the ring after each.
 *   1            there are records: after a wake-up, or, at the timeout or the end of the
 *                task, fewer than needed for a wake-up
 *   0            timeout, no records
 *   -ECANCELED   cancel_fd is readable (it is not read)
 *   -ESRCH       the watched task (with attr.inherit: and its last child) has ended, and
 *                all its records have been read. Linux 3.18
 *   -ENODATA     a pinned event is in error (Linux 6.15)
 *   -EINTR       a signal
 */
PEV_API int pev_ring_wait(struct pev_ring *ring, int timeout_ms, int cancel_fd);
/* The same for an event whose records go into a ring, its own or another event's (set_output):
 * -ESRCH refers to the task of this event, 1 to that ring. -EINVAL if the event has no ring,
 * since the kernel then reports nothing. If the other event's ring was unmapped, the kernel
 * reports the same as at the end of the task: -ESRCH. */
PEV_API int pev_event_wait(struct pev_event *ev, int timeout_ms, int cancel_fd);

/*
 * Overwrite rings: when the ring is full, the kernel overwrites the oldest records. Open ev with
 * attr.write_backward (Linux 4.7; otherwise -EINVAL). begin() pauses the output and waits some ms
 * for writers on other CPUs, next() goes from the newest record back in time, end() resumes the
 * output. Events in between are not recorded: a PERF_RECORD_LOST before the next record reports
 * them. release() does nothing. The oldest record, partly overwritten, is skipped silently. A
 * later drain returns records that are still in the ring again; to see each once, remember the
 * first record of a drain and stop at it in the next one.
 */
PEV_API int pev_ring_map_overwrite(struct pev_ring **out, struct pev_event *ev,
				   unsigned int pages, struct pev_error *err);

#ifdef __cplusplus
}
#endif
#endif
