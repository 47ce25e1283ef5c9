/* SPDX-License-Identifier: Apache-2.0 */
/* The call chain of a sample as a stack. */
#ifndef ENGINE_SAMPLESTACK_H
#define ENGINE_SAMPLESTACK_H

#include "engine/callstacks.h"

/* Its innermost frame is where the event happened, also if the chain begins elsewhere, as that of a precise event. NULL: the
 * sample has no chain, or as for callstacks_get(). */
struct callstack *sample_stack(struct names *names, struct callstacks *stacks, const struct stream_event *event,
			       const struct perf_event_header *rec);
/* The chain as it is, wherever the event happened. */
struct callstack *sample_chain(struct names *names, struct callstacks *stacks, const struct stream_event *event,
			       const struct perf_event_header *rec);
#endif
