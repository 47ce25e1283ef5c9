/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long who reads rings waits for names that are shown at once: a second at first and then a tenth of the time,
 * and where a ring fills up meanwhile, a tenth of that second. Nearly all files are read by then.
 */
#ifndef SYMBOLS_PATIENCE_H
#define SYMBOLS_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct patience {
	bool (*is_pressed)(void *ctx);   /* a ring has to be read, or the run ends; NULL: it waits for ever */
	void *ctx;
	uint64_t left, since;    /* ns; when so much was left (CLOCK_MONOTONIC), 0: at first */
};

/* For how long it waits before it is to look again; 0: it waits no more; UINT64_MAX: for ever. firm: also where a ring
 * fills up. */
uint64_t patience_left(struct patience *p, bool firm);
/* Between these it waited. */
uint64_t patience_begin(void);
void patience_end(struct patience *p, uint64_t begin);
#endif
