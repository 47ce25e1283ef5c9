/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a sample's call chain. */
#include "symbols/chain.h"

#include <linux/perf_event.h>
#include <stdbool.h>

/* The first of a place is what chain_marker() returns. */
static const struct {
	uint64_t marker;
	enum chain_place place;
} contexts[] = {
	{ (uint64_t)PERF_CONTEXT_KERNEL, PLACE_KERNEL },
	{ (uint64_t)PERF_CONTEXT_USER, PLACE_USER },
	{ (uint64_t)PERF_CONTEXT_HV, PLACE_HYPERVISOR },
	{ (uint64_t)PERF_CONTEXT_GUEST, PLACE_GUEST_KERNEL },
	{ (uint64_t)PERF_CONTEXT_GUEST_KERNEL, PLACE_GUEST_KERNEL },
	{ (uint64_t)PERF_CONTEXT_GUEST_USER, PLACE_GUEST_USER },
};

enum chain_place chain_place_of(uint16_t misc)
{
	static const enum chain_place places[PERF_RECORD_MISC_CPUMODE_MASK + 1] = {
		[PERF_RECORD_MISC_USER] = PLACE_USER, [PERF_RECORD_MISC_HYPERVISOR] = PLACE_HYPERVISOR,
		[PERF_RECORD_MISC_GUEST_KERNEL] = PLACE_GUEST_KERNEL, [PERF_RECORD_MISC_GUEST_USER] = PLACE_GUEST_USER,
	};

	return places[misc & PERF_RECORD_MISC_CPUMODE_MASK];
}

uint64_t chain_marker(enum chain_place place)
{
	size_t i = 0;

	while (contexts[i].place != place)
		i++;
	return contexts[i].marker;
}

/* False for markers not followed by addresses: PERF_CONTEXT_USER_DEFERRED (a cookie) and unknown ones. */
static bool take_marker(uint64_t marker, enum chain_place *place)
{
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
		if (contexts[i].marker == marker) {
			*place = contexts[i].place;
			return true;
		}
	return false;
}

/* The first address of a context is the instruction pointer, except behind CHAIN_RETURNS. All others are return addresses,
 * which may lie after the end of the calling function: the byte before is looked up. */
size_t chain_addresses(const uint64_t *ips, uint64_t nr, struct chain_address *out)
{
	enum chain_place place = PLACE_KERNEL;
	bool first = true, known = true, marked = false;
	size_t n = 0;

	for (uint64_t i = 0; i < nr; i++) {
		if (ips[i] == CHAIN_RETURNS) {
			first = false;
			continue;
		}
		if (ips[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			known = take_marker(ips[i], &place);
			first = marked = true;
			continue;
		}
		if (!known)
			continue;
		if (!marked)
			place = ips[i] >> 63 ? PLACE_KERNEL : PLACE_USER;
		out[n++] = (struct chain_address){ ips[i], first || !ips[i] ? ips[i] : ips[i] - 1,
						   place };
		first = false;
	}
	return n;
}
