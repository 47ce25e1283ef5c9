/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/state/state.h"

void stream_flush_gathered(struct stream *s)
{
	size_t n = s->gathered.n;

	s->gathered.n = 0;
	s->run.ops->samples(s->run.ctx, &s->gathered.v, n);
}

void stream_gather_alike(struct stream *s, const struct stream_alike *alike)
{
	const char *rec = alike->first;

	for (size_t i = 0; i < alike->n; i++, rec += alike->size)
		stream_gather(s, alike->event, (const void *)rec, rec + alike->raw_at, alike->raw_size, alike->cpu);
}
