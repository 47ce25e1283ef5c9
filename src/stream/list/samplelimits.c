/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/samplelimits.h"

#include "stream/list/maker.h"
#include "stream/state/state.h"

#define SECOND UINT64_C(1000000000)

struct stream_limit *limits_own(const struct stream_event *event)
{
	if (event->maker)
		return maker_limit(event->maker);
	return event->sampling && event->sampling->limit.exit_n ? &event->sampling->limit : NULL;
}

/* The source has reached its -N: disables its events. If no other event can come, the run ends. */
static void end_source(struct stream *s, const struct stream_event *event)
{
	for (size_t i = 0; i < s->rings.nopened; i++) {
		const struct stream_event *e = s->rings.opened[i].event;

		if (e == event || (event->maker && e->taps && makers_are_over(e)))
			pev_event_disable(s->rings.opened[i].ev);
	}
	for (size_t i = 0; i < s->list.nshown; i++) {
		const struct stream_event *e = &s->list.events[i];
		const struct stream_limit *limit = limits_own(e);

		if (e->wanted && (!limit || limit->passed < limit->exit_n))
			return;
	}
	stream_stop(s);
}

/* Whether the source may deliver one more event; the last one ends it. */
static bool within_limit(struct stream *s, const struct stream_event *event)
{
	struct stream_limit *limit = limits_own(event);

	if (limit->passed == limit->exit_n) {
		s->loss.totals.beyond++;
		return false;
	}
	if (++limit->passed == limit->exit_n)
		end_source(s, event);
	return true;
}

/* --sampling-limit, by the times of samples. */
static bool within_rate(struct stream *s, struct ring *ring, const struct stream_event *event,
			const struct perf_event_header *rec)
{
	uint64_t time = layout_u64(rec, event->layout.time);

	/* a sample that is out of order counts for the present second: both differences are unsigned */
	if (time - ring->second >= SECOND && ring->second - time >= SECOND) {
		ring->second = time;
		ring->this_second = 0;
	}
	if (ring->this_second++ < s->opts->sampling_limit)
		return true;
	s->loss.totals.limited++;
	return false;
}

bool limits_allow(struct stream *s, struct ring *ring, const struct stream_event *event,
		  const struct perf_event_header *rec)
{
	return (!s->opts->sampling_limit || within_rate(s, ring, event, rec)) &&
	       (!limits_own(event) || within_limit(s, event));
}
