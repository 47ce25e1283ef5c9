/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a command is with a recording, on a terminal's stderr, if it takes longer than a
 * moment: one line, written over and over, and gone at the end.
 */
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include "engine/analysis.h"

struct progress {
	bool off;                /* nobody looks; set by progress_begin() */
	bool shown;
	uint64_t samples;
	uint64_t begun, next;    /* CLOCK_MONOTONIC, ns */
};

void progress_begin(struct progress *p, const struct analysis *a);
void progress_show(struct progress *p, const struct analysis *a);
void progress_end(struct progress *p);

/* For each sample. */
static inline void progress_step(struct progress *p, const struct analysis *a)
{
	if (__builtin_expect(!(++p->samples & 0x3ff), 0) && !p->off)
		progress_show(p, a);
}
#endif
