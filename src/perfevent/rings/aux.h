/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the AUX area, for tests with an area in plain memory. */
#ifndef PERFEVENT_RINGS_AUX_H
#define PERFEVENT_RINGS_AUX_H

#include "perfevent/open/event.h"
#include "perfevent/rings/ring_private.h"

struct pev_aux_area {
	struct perf_event_mmap_page *page;   /* of the ring */
	char *data;
	uint64_t size;                       /* a power of two */
	uint64_t tail;                       /* aux_tail as last published */
	bool snapshot;
	bool mapped;                         /* false: memory of a test */
};

/* An area over `size` bytes at data with a control page made by a test. */
void pev_aux_attach_(struct pev_aux_area *aux, struct perf_event_mmap_page *page, void *data,
		     uint64_t size, bool snapshot);
#endif
