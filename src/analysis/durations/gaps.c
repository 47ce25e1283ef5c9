/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/gaps.h"

#include <stdlib.h>
#include <string.h>

void gaps_add(struct gaps *g, const struct stream_loss *loss)
{
	size_t cpu = (size_t)loss->cpu, room = cpu + 16;
	uint64_t *bigger = g->ends;

	if (loss->cpu < 0) {
		g->everywhere = loss->count && loss->end > g->everywhere ? loss->end : g->everywhere;
		return;
	}
	if (cpu >= g->ncpus) {
		bigger = realloc(g->ends, room * sizeof(*bigger));
		if (!bigger)
			return;
		memset(bigger + g->ncpus, 0, (room - g->ncpus) * sizeof(*bigger));
		g->ends = bigger;
		g->ncpus = room;
	}
	if (loss->count && loss->end > bigger[cpu])
		bigger[cpu] = loss->end;
}

bool gaps_since(const struct gaps *g, uint64_t cpu, uint64_t time)
{
	return g->everywhere > time || (cpu < g->ncpus && g->ends[cpu] > time);
}

void gaps_free(struct gaps *g)
{
	free(g->ends);
	*g = (struct gaps){ 0 };
}
