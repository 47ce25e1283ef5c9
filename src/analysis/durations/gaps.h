/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of each CPU's last loss of events. A beginning before that time and an end after it may belong to two pairs:
 *
 *	begin 1   [ end 1, begin 2: lost ]   end 2
 */
#ifndef ANALYSIS_DURATIONS_GAPS_H
#define ANALYSIS_DURATIONS_GAPS_H

#include "stream/stream.h"

struct gaps {
	uint64_t *ends;              /* by CPU: the end of its last loss (perf clock, ns); 0: no loss */
	size_t ncpus;
	uint64_t everywhere;         /* the same for losses on an unknown CPU, such as a damaged part of a recording */
};

/* For analysis_ops.lost, if events are ordered by time. */
void gaps_add(struct gaps *g, const struct stream_loss *loss);
/* Whether events of that CPU were lost after `time`. */
bool gaps_since(const struct gaps *g, uint64_t cpu, uint64_t time);
bool gaps_anywhere_since(const struct gaps *g, uint64_t time);
void gaps_free(struct gaps *g);
#endif
