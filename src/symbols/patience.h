/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the reader of the ring buffers may wait for names that are shown at once. It has one second, of which it
 * regains a tenth of the elapsed time. When a ring buffer is filling up, it uses a tenth of that second only. Nearly
 * all files are read in this time.
 */
#ifndef SYMBOLS_PATIENCE_H
#define SYMBOLS_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct patience {
	bool (*is_pressed)(void *ctx);   /* a ring buffer must be read, or the run ends; NULL: no limit */
	void *ctx;
	uint64_t left, since;    /* ns; when it was computed (CLOCK_MONOTONIC), 0: never */
};

/* How long to wait before asking again; 0: no longer; UINT64_MAX: without limit. firm: use the whole time even when a
 * ring buffer is filling up. */
uint64_t patience_left(struct patience *p, bool firm);
/* Call this after a wait that began at `begin`. */
void patience_end(struct patience *p, uint64_t begin);
#endif
