/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of one event and its ring, which are closed behind each, however it ends. */
#ifndef TESTS_LIVE_RINGED_H
#define TESTS_LIVE_RINGED_H

#include "live.h"

static struct pev_event *ev;
static struct pev_ring *ring;
static struct pev_error err;

static int close_both(void **state)
{
	(void)state;
	pev_ring_unmap(ring);
	pev_event_close(ev);
	ring = NULL;
	ev = NULL;
	err = (struct pev_error){ 0 };
	return 0;
}

#define RING_TEST(name) TEST_WITH(name, NULL, close_both)

static inline void map(unsigned int pages)
{
	skip_if_refused(pev_ring_map(&ring, ev, pages, &err), &err);
}

#endif
