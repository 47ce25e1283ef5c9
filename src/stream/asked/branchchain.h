/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains from the CPU's record of calls (LBR: perf record --call-graph lbr). The kernel's part
 * of such a chain is in the sample's callchain, the user's part in its branches: the first branch
 * holds the target of the last call, and each branch the address of a call. Both are exact
 * addresses of instructions, not return addresses.
 */
#ifndef STREAM_ASKED_BRANCHCHAIN_H
#define STREAM_ASKED_BRANCHCHAIN_H

#include "stream/asked/event.h"

struct branchchain {
	uint64_t *words;         /* allocated by the first call that needs it */
};

/* Whether samples of the event have such branches. */
static inline bool branchchain_has(const struct stream_event *event)
{
	return event->sampling && event->sampling->attr.attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/* The complete chain, *nr words; `ips` itself where the sample has no branches, or its chain no
 * user's part. Valid until the next call. */
const uint64_t *branchchain_make(struct branchchain *b, const struct stream_event *event,
				 const struct perf_event_header *rec, const uint64_t *ips, uint64_t *nr);
void branchchain_free(struct branchchain *b);
#endif
