/* SPDX-License-Identifier: Apache-2.0 */
/* Passes records of the sideband (COMM, MMAP2 and others) up to the time of an event to the consumer. */
#include "stream/state/state.h"

/* Everything the kernel wrote before the present slice was read is in the sideband's rings by now,
 * so one collection per slice is enough. */
void stream_tasks_until(struct stream *s, uint64_t time)
{
	if (!s->sideband || !s->run.ops)
		return;
	stream_flush(s);   /* samples before it ask for records up to their own times */
	if (s->rings.side_slice != s->rings.slice || time == UINT64_MAX)
		sideband_collect(s->sideband);
	s->rings.side_slice = s->rings.slice;
	sideband_take(s->sideband, time);
}
