/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that the recording itself causes. When a watched thread starts another one, the kernel creates the events of the new thread
 * within clone(), where it may wait for other users of tracepoints; when a thread exits, it frees them.
 */
#include "analysis/profiles/hotspots_private.h"

#include <string.h>

static bool is_of_events(const char *function)
{
	static const char *const all[] = { "perf_event_init_task", "perf_event_exit_task", "perf_event_free_task" };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(function, all[i]))
			return true;
	return false;
}

static bool is_own(const struct callstack *stack)
{
	for (uint32_t i = 0; i < stack->n && stack->frames[i]->kernel; i++)
		if (stack->frames[i]->symbol && is_of_events(stack->frames[i]->symbol))
			return true;
	return false;
}

/* Events of all tasks (-a) are not made anew for each thread: then such waits are for another program that records. */
static bool has_inherited(struct analysis *a)
{
	size_t n;
	const struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].sampling && events[i].sampling->attr.attr.inherit)
			return true;
	return false;
}

void hotspots_drop_own(struct analysis *a, struct hotspots *h)
{
	if (!has_inherited(a))
		return;
	for (struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot)) {
		if (!spot->key.blocked || !is_own(hotspot_stack(spot)))
			continue;
		h->own += spot->weight;
		h->weight -= spot->weight;
		h->blocked -= spot->weight;
		h->samples -= spot->samples;
		groups_drop(&h->all, spot);
	}
}
