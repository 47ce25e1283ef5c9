/* SPDX-License-Identifier: Apache-2.0 */
/* Spans from THROTTLE to whatever ends them. */

#include "checks.h"

#include "stream/stream.h"
#include "stream/live/throttle.h"

static struct stream_event cycles, clocks;

static struct throttles t;
static struct throttle_span span;

static int forget(void **state)
{
	throttles_free(&t);
	memset(&t, 0, sizeof(t));
	return 0;
}

static void begins(const struct stream_event *event, int cpu, uint64_t id, bool task, uint64_t time)
{
	const struct throttle_who who = { event, cpu, id, task };

	assert_int_equal(throttles_begin(&t, &who, time), 0);
}

static bool ends(uint64_t id, uint64_t time)
{
	const struct throttle_who of_cycles = { .event = &cycles, .stream_id = id };

	return throttles_end(&t, &of_cycles, time, &span);
}

static void is_span(const struct stream_event *event, int cpu, uint64_t from, uint64_t to)
{
	assert_ptr_equal(span.event, event);
	ARE(NUMBERS((uint64_t)span.cpu, span.from, span.to), NUMBERS((uint64_t)cpu, from, to));
}

TEST_WITH(unthrottle_ends_a_span, NULL, forget)
{
	t.longest = 4;
	begins(&cycles, 0, 11, false, 100);
	begins(&cycles, 1, 12, false, 105);
	begins(&clocks, 1, 13, false, 106);
	assert_int_equal(t.nopen, 3);
	assert_true(ends(12, 115));
	is_span(&cycles, 1, 105, 115);
	assert_false(ends(12, 116));
	assert_false(ends(99, 116));
	assert_true(ends(11, 90));      /* a clock that goes back */
	is_span(&cycles, 0, 100, 100);
	begins(&cycles, 1, 12, false, 120);
	assert_true(ends(12, 127));
	ARE(NUMBERS(t.ntotals, t.totals[1].times, t.totals[1].ns, t.totals[1].at_most, t.times), NUMBERS(3, 2, 17, false, 4));
	throttles_free(&t);
	assert_int_equal(t.nopen, 0);
}

/* One is written behind THROTTLE; the next one shows that UNTHROTTLE was lost. */
TEST_WITH(the_second_sample_ends_a_span, NULL, forget)
{
	t.longest = 1000;
	begins(&cycles, 0, 11, false, 100);
	assert_false(throttles_sampled(&t, &cycles, 0, 101, &span));
	assert_false(throttles_sampled(&t, &cycles, 1, 102, &span));
	assert_false(throttles_sampled(&t, &cycles, 1, 103, &span));
	assert_false(throttles_sampled(&t, &clocks, 0, 104, &span));
	assert_false(throttles_sampled(&t, &clocks, 0, 105, &span));
	assert_true(throttles_sampled(&t, &cycles, 0, 140, &span));
	is_span(&cycles, 0, 100, 140);
	assert_false(throttles_sampled(&t, &cycles, 0, 141, &span));
}

/* While a task is off its CPU its event is not on. */
TEST_WITH(a_task_is_throttled_for_a_tick_at_most, NULL, forget)
{
	t.longest = 10;
	begins(&cycles, 0, 11, true, 100);
	assert_true(ends(11, 104));
	is_span(&cycles, 0, 100, 104);
	assert_true(t.totals[0].at_most);
	begins(&cycles, 0, 11, true, 200);
	assert_true(ends(11, 900));
	is_span(&cycles, 0, 200, 210);
	assert_int_equal(t.totals[0].ns, 14);
	/* its end is missing: what begins again ended */
	begins(&cycles, 0, 11, true, 1000);
	begins(&cycles, 0, 11, true, 1004);
	assert_int_equal(t.nopen, 1);
	assert_int_equal(t.totals[0].ns, 18);
}

TEST_WITH(members_of_a_group_share_an_id, NULL, forget)
{
	const struct throttle_who of_clocks = { &clocks, 0, 11, false };

	t.longest = 10;
	begins(&cycles, 0, 11, false, 100);
	begins(&clocks, 0, 11, false, 100);
	assert_int_equal(t.nopen, 2);
	assert_true(ends(11, 104));
	is_span(&cycles, 0, 100, 104);
	assert_true(throttles_end(&t, &of_clocks, 105, &span));
	is_span(&clocks, 0, 100, 105);
}

TEST_WITH(the_end_ends_all_of_them, NULL, forget)
{
	uint64_t ns = 0;
	int n = 0;

	t.longest = 10;
	begins(&cycles, 0, 11, false, 100);
	begins(&clocks, 0, 12, true, 105);
	begins(&cycles, 1, 13, false, 50);
	for (; throttles_finish(&t, 108, &span); n++)
		ns += span.to - span.from;
	ARE(NUMBERS((uint64_t)n, ns, t.nopen), NUMBERS(3, 8 + 3 + 10, 0));
}

/* A hostile recording has as many ids as it has room. */
TEST_WITH(memory_is_bounded, NULL, forget)
{
	const int many = 100000;
	int refused = 0;

	t.longest = 10;
	for (int i = 0; i < many; i++) {
		const struct throttle_who who = { &cycles, 0, (uint64_t)i, false };

		refused += throttles_begin(&t, &who, 100) != 0;
	}
	ARE(NUMBERS(t.times, t.totals[0].times, t.nopen + (size_t)refused), NUMBERS(many, many, many));
	assert_in_range(t.nopen, 1, 65536);
}

TEST_WITH(a_trifle_is_no_line, NULL, forget)
{
	assert_false(throttle_matters(0, 1000000) || throttle_matters(9999, 1000000));
	assert_true(throttle_matters(10000, 1000000) && throttle_matters(1000000, 1000000));
	assert_true(throttle_matters(1, 0));   /* of what it is a part is not known */
}
