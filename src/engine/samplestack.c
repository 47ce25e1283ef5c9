/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/samplestack.h"

#include "stream/asked/branchchain.h"

static pid_t pid_of(const struct stream_event *event, const struct perf_event_header *rec)
{
	return (pid_t)layout_u32(rec, event->layout.tid);
}

static uint64_t time_of(const struct stream_event *event, const struct perf_event_header *rec)
{
	return layout_u64(rec, event->layout.time);
}

static struct callstack *marked(struct callstack *stack, const struct names *names)
{
	if (stack)
		stack->cut |= names->chain_is_cut;
	return stack;
}

struct callstack *sample_chain(struct names *names, struct callstacks *stacks, const struct stream_event *event,
			       const struct perf_event_header *rec)
{
	uint64_t nr = 0;
	const uint64_t *ips = names_chain(names, event, rec, &nr);

	return ips ? marked(callstacks_get(stacks, ips, nr, pid_of(event, rec), time_of(event, rec)), names) : NULL;
}

/* Whether the sample's ip is where the event happened. The call chain begins where the kernel took the sample, or at
 * the target of the last call. */
static bool has_own_place(const struct stream_event *event, const struct perf_event_header *rec)
{
	return event->layout.ip && layout_u64(rec, event->layout.ip) && event->sampling &&
	       (event->sampling->attr.attr.precise_ip || rec->misc & PERF_RECORD_MISC_EXACT_IP || branchchain_has(event));
}

struct callstack *sample_stack(struct names *names, struct callstacks *stacks, const struct stream_event *event,
			       const struct perf_event_header *rec)
{
	uint64_t nr = 0;
	const uint64_t *ips;

	if (!has_own_place(event, rec))
		return sample_chain(names, stacks, event, rec);
	ips = names_chain(names, event, rec, &nr);
	return ips ? marked(callstacks_get_at(stacks, layout_u64(rec, event->layout.ip), chain_place_of(rec->misc), ips, nr, pid_of(event, rec),
					      time_of(event, rec)), names) : NULL;
}
