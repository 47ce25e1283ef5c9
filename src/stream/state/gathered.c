/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/state/state.h"

void stream_flush_gathered(struct stream *s)
{
	size_t n = s->gathered.n;

	s->gathered.n = 0;   /* first: the consumer may ask for records of tasks, before which all is flushed */
	s->run.ops->samples(s->run.ctx, &s->gathered.v, n);
}
