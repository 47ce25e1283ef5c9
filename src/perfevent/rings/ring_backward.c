/* SPDX-License-Identifier: Apache-2.0 */
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
#include "perfevent/open/event.h"
#include "perfevent/open/target.h"
#include "perfevent/rings/ring_private.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

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

uint64_t pev_ring_begin_backward_(struct pev_ring *ring)
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

void pev_ring_end_backward_(struct pev_ring *ring)
{
	ring->pos = ring->head;
	if (ring->ev)
		pev_event_pause_output(ring->ev, false);
}
