/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/ring.h - records as the kernel wrote them */
#ifndef PEV_RING_H
#define PEV_RING_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The bytes between the kernel and the program.
 *
 *   pev_ring_begin(r);                       // one acquire of data_head
 *   while ((rec = pev_ring_next(r)))         // borrowed until the next call
 *           use(rec);
 *   pev_ring_end(r);                         // one release of data_tail
 *
 * begin() fixes how far this drain goes, so a fast producer can't keep it inside.
 * A record lies in the ring itself; the one that wraps is copied into the ring's
 * scratch buffer of 64 KiB. next() returns NULL at the end of the drain and on a
 * damaged record (size < 8, not a multiple of 8, or beyond the head): the drain is
 * then abandoned to the head and pev_ring_damaged() counts it.
 */
struct pev_ring;

#define PEV_RING_DEFAULT_PAGES 128

/* Maps a ring of `pages` data pages (a power of two; 0 = the default) on ev. The
 * event must outlive the ring. -EPERM: mlock limit, -EBUSY: it has a ring, -ENOMEM, -EINVAL
 * explained in err.
 * A child of fork(2) doesn't have the mapping: there neither read nor unmap it. */
PEV_API int pev_ring_map(struct pev_ring **out, struct pev_event *ev, unsigned int pages,
			 struct pev_error *err);
/* Unmaps it; NULL is fine. */
PEV_API void pev_ring_unmap(struct pev_ring *ring);
/* Starts a drain; returns the bytes waiting. */
PEV_API uint64_t pev_ring_begin(struct pev_ring *ring);
/* Next record, 8-byte aligned, header.size bytes of it valid; NULL at the end. */
PEV_API const struct perf_event_header *pev_ring_next(struct pev_ring *ring);
/* Returns the records of next() so far to the kernel, in the middle of a drain. The last
 * record is no longer valid afterwards. */
PEV_API void pev_ring_release(struct pev_ring *ring);
/* Ends the drain and releases all of what next() returned. */
PEV_API void pev_ring_end(struct pev_ring *ring);
/* Bytes of its data pages. */
PEV_API size_t pev_ring_size(const struct pev_ring *ring);
/* How often a drain was abandoned for a damaged record. */
PEV_API uint64_t pev_ring_damaged(const struct pev_ring *ring);

/* True if records wait: no system call, no begin() needed. Not for overwrite rings. */
PEV_API bool pev_ring_has_record(const struct pev_ring *ring);
/* For poll, epoll, select of other loops: POLLIN at every wake-up, POLLHUP once the watched
 * task ended. Owned by the event. */
PEV_API int pev_ring_fd(const struct pev_ring *ring);

/*
 * Waits for the ring's wake-up: attr.wakeup_events samples or wakeup_watermark bytes.
 * timeout_ms < 0 waits for ever, 0 just looks. cancel_fd: any descriptor (an eventfd)
 * that ends the wait by becoming readable, also from another thread or a signal handler;
 * -1 = none. Wake-ups depend on what was written, not on what is unread: drain the ring
 * after each.
 *   1            records are there: a wake-up, or less than a wake-up's worth when the
 *                time was over or the task had ended
 *   0            the time is over and nothing is there
 *   -ECANCELED   cancel_fd is readable (it is not read)
 *   -ESRCH       the watched task (with attr.inherit: and its last child) has ended, and
 *                all that it left was read. Linux 3.18
 *   -ENODATA     a pinned event is in error (Linux 6.15)
 *   -EINTR       a signal
 */
PEV_API int pev_ring_wait(struct pev_ring *ring, int timeout_ms, int cancel_fd);
/* The same for an event whose records go into a ring, its own or another's (set_output):
 * -ESRCH is about the task of this event. 1 means a wake-up of that ring. -EINVAL if the event
 * has no ring: the kernel reports nothing then. After the other's ring was unmapped, the kernel
 * reports the same as at the end of the task: -ESRCH. */
PEV_API int pev_event_wait(struct pev_event *ev, int timeout_ms, int cancel_fd);

/*
 * Overwrite rings: the kernel never stops for lack of room, the oldest records are lost
 * instead. Open ev with attr.write_backward (Linux 4.7; otherwise -EINVAL).
 * begin() pauses the output and waits for writers of other CPUs (ms), next() then
 * goes from the newest record back in time, end() resumes. Events in between are not
 * recorded: a PERF_RECORD_LOST before the next record reports them. release() does nothing.
 * The oldest record, half overwritten, is left out silently. A later drain returns again
 * records that are still there; to see each once, remember the first record of the last
 * drain and stop at it.
 */
PEV_API int pev_ring_map_overwrite(struct pev_ring **out, struct pev_event *ev,
				   unsigned int pages, struct pev_error *err);

#ifdef __cplusplus
}
#endif
#endif
