/* SPDX-License-Identifier: Apache-2.0 */
/* The perf clock now, and the times of samples as they are shown. */
#include "stream/recording/facts.h"
#include "stream/state/state.h"

#include <time.h>

int64_t stream_realtime_offset(struct stream *s)
{
	if (s->replay)
		return replay_realtime_offset(s->replay);
	if (!s->clock.ring && !s->clock.measured_at && perf_clock_open(&s->clock))
		s->clock.measured_at = 1;   /* not available: do not try again */
	return perf_clock_offset(&s->clock);
}

bool stream_has_realtime(const struct stream *s)
{
	return !s->replay || replay_info(s->replay)->has_clock;
}

uint64_t stream_now(struct stream *s)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - (uint64_t)stream_realtime_offset(s);
}

uint64_t stream_time(const struct stream *s, uint64_t time)
{
	return perf_clock_show(&s->clock, time);
}

bool stream_time_differs(const struct stream *s)
{
	return s->clock.kind == CLOCK_TSC || s->clock.added;
}
