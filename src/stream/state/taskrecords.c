/* SPDX-License-Identifier: Apache-2.0 */
/* Records of tasks (COMM, MMAP2 and others) from the sideband, up to the time of the event whose task is asked for. */
#include "stream/state/state.h"

/* What the kernel wrote before the present slice of a ring is all there once its end is
 * known: one look at the sideband per slice is enough. */
void stream_tasks_until(struct stream *s, uint64_t time)
{
	if (!s->sideband || !s->run.ops)
		return;
	if (s->rings.side_slice != s->rings.slice || time == UINT64_MAX)
		sideband_collect(s->sideband);
	s->rings.side_slice = s->rings.slice;
	sideband_take(s->sideband, time);
}
