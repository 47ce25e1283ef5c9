/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers by the CPU's own record of calls (perf record --call-graph lbr): in such a sample the kernel's part
 * of the chain is the kernel's, and the user's part are branches: where the last call went to, and where it
 * and those around it came from. Both say so exactly: they are no addresses to return to.
 */
#ifndef STREAM_ASKED_BRANCHCHAIN_H
#define STREAM_ASKED_BRANCHCHAIN_H

#include "stream/asked/event.h"

struct branchchain {
	uint64_t *words;         /* room for one; NULL at first */
};

/* Whether an event's samples are of that kind. */
static inline bool branchchain_has(const struct stream_event *event)
{
	return event->sampling && event->sampling->attr.attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/* The chain of *nr words as it should be: ips where there are no branches, or no part of the user. Valid until
 * the next call. */
const uint64_t *branchchain_make(struct branchchain *b, const struct stream_event *event,
				 const struct perf_event_header *rec, const uint64_t *ips, uint64_t *nr);
void branchchain_free(struct branchchain *b);
#endif
