/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overwrite rings. The kernel writes them from the end to the beginning: data_head goes
 * down from 0 and lies at the newest record, those before it follow upwards. So a drain
 * from data_head on meets whole headers all the way, and the record that is half
 * overwritten is the last one, the oldest: it reaches beyond what the ring holds.
 */
#include "perfevent/open/event.h"
#include "perfevent/open/target.h"
#include "perfevent/rings/ring_private.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A writer that passed the kernel's look at `paused` before us may still be at work on
 * another CPU. Writers run with preemption off, so the barrier, which waits until every
 * CPU has been through the scheduler, waits for them. Where the kernel refuses (nohz_full)
 * the window is the time of one record. Our own thread is not writing now. */
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
