/* SPDX-License-Identifier: Apache-2.0 */
/* When each CPU last lost events: what spans that time may be two things of which the middle is missing. */
#ifndef ANALYSIS_GAPS_H
#define ANALYSIS_GAPS_H

#include "stream/stream.h"

struct gaps {
	uint64_t *ends;              /* by CPU; 0: there was none */
	size_t ncpus;
	uint64_t everywhere;         /* of a CPU that nobody knows: damage of a recording */
};

/* For analysis_ops.lost, with order of time. */
void gaps_add(struct gaps *g, const struct stream_loss *loss);
/* Whether events of that CPU were lost since a time in the past. */
bool gaps_since(const struct gaps *g, uint64_t cpu, uint64_t time);
void gaps_free(struct gaps *g);
#endif
