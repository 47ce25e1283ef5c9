/* SPDX-License-Identifier: Apache-2.0 */
/* Measures whether a counter is read faster in user space or by the kernel. */
#include "perfevent/open/self.h"

#include "base/now.h"

/* At least LEAST rounds, so that one interrupted round does not matter, and up to MOST within ENOUGH_NS. */
enum { LEAST = 3, MOST = 9, ENOUGH_NS = 8000 };

static void keep_least(uint64_t *least, uint64_t ns)
{
	if (ns < *least)
		*least = ns;
}

enum pev_self_way pev_self_race_(const struct pev_self_race *race, void *arg)
{
	uint64_t page = UINT64_MAX, kernel = UINT64_MAX, start = race->now(), before = start;

	/* alternating, and the minimum of each: disturbances only add time */
	for (int i = 0; i < MOST && (i < LEAST || before - start < ENOUGH_NS); i++) {
		uint64_t between, after;

		if (!race->page(arg))
			return SELF_UNDECIDED;
		between = race->now();
		race->kernel(arg);
		after = race->now();
		keep_least(&page, between - before);
		keep_least(&kernel, after - between);
		before = after;
	}
	return page <= kernel ? SELF_BY_PAGE : SELF_BY_KERNEL;
}

uint64_t pev_self_ns_(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

const char *pev_self_text_(enum pev_self_how how)
{
	static const char *const texts[] = {
		[SELF_FAST] = "in user space",
		[SELF_STALE] = "in user space; the times may lag, as the kernel offers no clock here "
			       "(cap_user_time)",
		[SELF_SLOWER] = "by read(2), which is faster here: reading a counter in user space is "
				"trapped, as by a hypervisor",
		[SELF_NO_RDPMC] = "by read(2): the kernel does not offer this counter to user space "
				  "(cap_user_rdpmc)",
		[SELF_NO_TIME] = "by read(2): the event shares its counter, and only the kernel knows for "
				 "how long it had it (no cap_user_time)",
		[SELF_OFF_PMU] = "by read(2): the event is not on a hardware counter now, or the kernel "
				 "keeps that to itself (kernel.perf_user_access)",
		[SELF_NO_PAGE] = "by read(2): only an event of the calling thread on any CPU, without "
				 "inherit and without a ring, can be read in user space",
		[SELF_NOT_MAPPED] = "by read(2): pev_group_map_self() was not called",
	};

	return texts[how];
}
