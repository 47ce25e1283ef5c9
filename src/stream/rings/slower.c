/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/rings/slower.h"

#include "base/note.h"
#include "base/now.h"
#include "perfevent/rings/ring_private.h"
#include "stream/state/mappings.h"
#include "stream/state/state.h"

#include <inttypes.h>

enum { LEAST = 49 };   /* samples a second */
#define LEAST_NS UINT64_C(250000000)   /* from one change to the next */

static bool can_slow(const struct stream_event *event)
{
	const struct perf_event_attr *attr = event->sampling ? &event->sampling->attr.attr : NULL;

	return attr && attr->freq && attr->sample_freq / 2 >= LEAST;
}

/* The children that inherited a task's event keep its frequency: the kernel changes the parent's alone. */
static bool is_inherited(const struct stream *s)
{
	for (size_t i = 0; i < s->rings.nopened; i++)
		if (s->rings.opened[i].task && pev_event_attr(s->rings.opened[i].ev)->inherit)
			return true;
	return false;
}

static void slow(struct stream *s, struct stream_event *event)
{
	struct perf_event_attr *attr = &event->sampling->attr.attr;
	uint64_t freq = attr->sample_freq / 2;
	bool all = true;

	for (size_t i = 0; i < s->rings.nopened; i++)
		if (s->rings.opened[i].event == event)
			all = !pev_event_set_period(s->rings.opened[i].ev, freq) && all;
	if (!all)
		return;
	note(event->sampling->rate ? 1 : s->opts->verbose, "%s: samples with stacks come faster than they are read: from now on "
	     "%" PRIu64 " Hz instead of %" PRIu64 " (--strict-freq keeps the frequency)", event->name, freq,
	     (uint64_t)attr->sample_freq);
	attr->sample_freq = freq;
}

static bool loses_much(const struct slowing *since, const struct stream_totals *now)
{
	uint64_t lost = now->lost - since->lost;

	return lost * 100 > lost + now->delivered - since->delivered;
}

static bool is_nearly_full(const struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++)
		if (pev_ring_waiting_(s->rings.v[i].ring) > pev_ring_size(s->rings.v[i].ring) / 4 * 3)
			return true;
	return false;
}

void slower_allow(struct stream *s)
{
	s->rings.slowing.allowed = !s->opts->strict_freq && stream_has_stacks(s) && !is_inherited(s);
}

void slower_round(struct stream *s)
{
	struct slowing *since = &s->rings.slowing;
	uint64_t now;

	if (!since->allowed || s->run.draining || (s->loss.totals.lost == since->lost && !is_nearly_full(s)))
		return;
	now = now_ns(CLOCK_MONOTONIC);
	if (now - since->ns < LEAST_NS || !(is_nearly_full(s) || loses_much(since, &s->loss.totals)))
		return;
	for (size_t i = 0; i < s->list.nevents; i++)
		if (can_slow(&s->list.events[i]))
			slow(s, &s->list.events[i]);
	*since = (struct slowing){ true, now, s->loss.totals.delivered, s->loss.totals.lost };
}
