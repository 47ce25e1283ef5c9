/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a command that reads a recording: one line on stderr, if that is a terminal and
 * reading takes longer than 0.7 s. The line is updated, and erased at the end.
 */
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include "engine/analysis.h"

struct progress {
	bool off;                /* no terminal, or -q; set by progress_begin() */
	bool shown;
	uint64_t samples;
	uint64_t begun, next;    /* CLOCK_MONOTONIC, ns */
};

void progress_begin(struct progress *p, const struct analysis *a);
void progress_show(struct progress *p, const struct analysis *a);
void progress_end(struct progress *p);

/* To be called for each sample. */
static inline void progress_step(struct progress *p, const struct analysis *a)
{
	if (__builtin_expect(!(++p->samples & 0x3ff), 0) && !p->off)
		progress_show(p, a);
}
#endif
