/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/gaps.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

void gaps_add(struct gaps *g, const struct stream_loss *loss)
{
	size_t cpu = (size_t)loss->cpu;

	if (loss->cpu < 0) {
		g->everywhere = loss->count && loss->end > g->everywhere ? loss->end : g->everywhere;
		return;
	}
	if (ROOM_AT(g->ends, g->ncpus, cpu) && loss->count && loss->end > g->ends[cpu])
		g->ends[cpu] = loss->end;
}

bool gaps_since(const struct gaps *g, uint64_t cpu, uint64_t time)
{
	return g->everywhere > time || (cpu < g->ncpus && g->ends[cpu] > time);
}

bool gaps_anywhere_since(const struct gaps *g, uint64_t time)
{
	for (size_t cpu = 0; cpu < g->ncpus; cpu++)
		if (g->ends[cpu] > time)
			return true;
	return g->everywhere > time;
}

void gaps_free(struct gaps *g)
{
	free(g->ends);
	*g = (struct gaps){ 0 };
}
