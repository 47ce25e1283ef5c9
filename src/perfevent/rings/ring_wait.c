/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a ring. Results of poll(2) for an event:
 *   POLLIN   a wake-up since the last poll, which clears it
 *   POLLHUP  the watched task has ended, or the event has no ring
 *   POLLERR  a pinned event lost its place (Linux 6.15)
 */
#include "base/now.h"
#include "perfevent/open/event.h"
#include "perfevent/rings/ring_private.h"

#include <errno.h>
#include <poll.h>

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
