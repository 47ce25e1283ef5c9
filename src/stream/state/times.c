/* SPDX-License-Identifier: Apache-2.0 */
/* The perf clock now, and the times of samples as they are shown. */
#include "base/now.h"
#include "stream/recording/facts.h"
#include "stream/state/state.h"


int64_t stream_realtime_offset(struct stream *s)
{
	if (s->replay)
		return replay_realtime_offset(s->replay);
	if (!s->clock.ring && !s->clock.measured_at)
		perf_clock_open(&s->clock);   /* if it fails, the offset is an estimate */
	return perf_clock_offset(&s->clock);
}

bool stream_has_realtime(const struct stream *s)
{
	return !s->replay || replay_info(s->replay)->has_clock;
}

uint64_t stream_now(struct stream *s)
{
	return now_ns(CLOCK_REALTIME) - (uint64_t)stream_realtime_offset(s);
}

uint64_t stream_time(const struct stream *s, uint64_t time)
{
	return perf_clock_show(&s->clock, time);
}

bool stream_time_differs(const struct stream *s)
{
	return s->clock.kind == CLOCK_TSC || s->clock.added;
}
