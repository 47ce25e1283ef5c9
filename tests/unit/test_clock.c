/* SPDX-License-Identifier: Apache-2.0 */
/* Which clock events are stamped with, and how a stamp is shown. */
#include "checks.h"

#include "stream/live/clock.h"

#include <time.h>

/* What the kernel makes of a TSC: arch/x86/kernel/tsc.c, by the page's three numbers. */
static uint64_t ns_of_tsc(const struct perf_clock *c, uint64_t tsc)
{
	return c->zero + (uint64_t)(((unsigned __int128)tsc * c->mult) >> c->shift);
}

TEST(a_tsc_comes_back_as_it_was)
{
	/* 2.6 GHz; 4.7 GHz; a clock that began long after the TSC did */
	static const struct perf_clock clocks[] = {
		{ .kind = CLOCK_TSC, .mult = 1652580, .shift = 22, .zero = 12345 },
		{ .kind = CLOCK_TSC, .mult = 913859413, .shift = 32, .zero = 1 },
		{ .kind = CLOCK_TSC, .mult = 403429162, .shift = 30, .zero = -(uint64_t)5000000000 },
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		/* up to a year of ticks */
		for (uint64_t tsc = 20000000000; tsc < UINT64_C(1) << 56; tsc = tsc * 3 + 7) {
			uint64_t back = perf_clock_show(&clocks[i], ns_of_tsc(&clocks[i], tsc));
			uint64_t tick = ((uint64_t)1 << clocks[i].shift) / clocks[i].mult + 1;

			/* a time in whole ns can't tell ticks within one */
			assert_true(back <= tsc && tsc - back <= tick);
		}
	}
}

TEST(an_offset_is_added)
{
	struct perf_clock later = { .kind = CLOCK_PERF, .added = 1000 };
	struct perf_clock earlier = { .kind = CLOCK_MONO, .added = -1000 };

	assert_int_equal(perf_clock_show(&later, 5000), 6000);
	assert_int_equal(perf_clock_show(&earlier, 5000), 4000);
}

TEST(only_monotonic_changes_the_attr)
{
	struct perf_clock clock = { .kind = CLOCK_TSC };
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	perf_clock_attr(&clock, &attr);
	assert_int_equal(attr.use_clockid, 0);
	clock.kind = CLOCK_MONO;
	perf_clock_attr(&clock, &attr);
	ARE(NUMBERS(attr.use_clockid, attr.clockid), NUMBERS(1, CLOCK_MONOTONIC));
}
