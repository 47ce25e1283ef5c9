/* SPDX-License-Identifier: Apache-2.0 */
/* Spans from THROTTLE to whatever ends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stream/stream.h"
#include "stream/live/throttle.h"

static struct stream_event cycles, clocks;

static void begins(struct throttles *t, const struct stream_event *event, int cpu, uint64_t id, bool task,
		   uint64_t time)
{
	const struct throttle_who who = { event, cpu, id, task };

	assert_int_equal(throttles_begin(t, &who, time), 0);
}

static bool ends(struct throttles *t, uint64_t id, uint64_t time, struct throttle_span *span)
{
	const struct throttle_who of_cycles = { .event = &cycles, .stream_id = id };

	return throttles_end(t, &of_cycles, time, span);
}

static void is_span(const struct throttle_span *span, const struct stream_event *event, int cpu, uint64_t from,
		    uint64_t to)
{
	assert_ptr_equal(span->event, event);
	assert_int_equal(span->cpu, cpu);
	assert_int_equal(span->from, from);
	assert_int_equal(span->to, to);
}

static void unthrottle_ends_a_span(void **state)
{
	struct throttles t = { .longest = 4 };
	struct throttle_span span;

	(void)state;
	begins(&t, &cycles, 0, 11, false, 100);
	begins(&t, &cycles, 1, 12, false, 105);
	begins(&t, &clocks, 1, 13, false, 106);
	assert_int_equal(t.nopen, 3);
	assert_true(ends(&t, 12, 115, &span));
	is_span(&span, &cycles, 1, 105, 115);
	assert_false(ends(&t, 12, 116, &span));
	assert_false(ends(&t, 99, 116, &span));
	assert_true(ends(&t, 11, 90, &span));      /* a clock that goes back */
	is_span(&span, &cycles, 0, 100, 100);
	begins(&t, &cycles, 1, 12, false, 120);
	assert_true(ends(&t, 12, 127, &span));
	assert_int_equal(t.ntotals, 3);
	assert_int_equal(t.totals[1].times, 2);
	assert_int_equal(t.totals[1].ns, 17);
	assert_false(t.totals[1].at_most);
	assert_int_equal(t.times, 4);
	throttles_free(&t);
	assert_int_equal(t.nopen, 0);
}

/* One is written behind THROTTLE; the next one shows that UNTHROTTLE was lost. */
static void the_second_sample_ends_a_span(void **state)
{
	struct throttles t = { .longest = 1000 };
	struct throttle_span span;

	(void)state;
	begins(&t, &cycles, 0, 11, false, 100);
	assert_false(throttles_sampled(&t, &cycles, 0, 101, &span));
	assert_false(throttles_sampled(&t, &cycles, 1, 102, &span));
	assert_false(throttles_sampled(&t, &cycles, 1, 103, &span));
	assert_false(throttles_sampled(&t, &clocks, 0, 104, &span));
	assert_false(throttles_sampled(&t, &clocks, 0, 105, &span));
	assert_true(throttles_sampled(&t, &cycles, 0, 140, &span));
	is_span(&span, &cycles, 0, 100, 140);
	assert_false(throttles_sampled(&t, &cycles, 0, 141, &span));
	throttles_free(&t);
}

/* While a task is off its CPU its event is not on. */
static void a_task_is_throttled_for_a_tick_at_most(void **state)
{
	struct throttles t = { .longest = 10 };
	struct throttle_span span;

	(void)state;
	begins(&t, &cycles, 0, 11, true, 100);
	assert_true(ends(&t, 11, 104, &span));
	is_span(&span, &cycles, 0, 100, 104);
	assert_true(t.totals[0].at_most);
	begins(&t, &cycles, 0, 11, true, 200);
	assert_true(ends(&t, 11, 900, &span));
	is_span(&span, &cycles, 0, 200, 210);
	assert_int_equal(t.totals[0].ns, 14);
	/* its end is missing: what begins again ended */
	begins(&t, &cycles, 0, 11, true, 1000);
	begins(&t, &cycles, 0, 11, true, 1004);
	assert_int_equal(t.nopen, 1);
	assert_int_equal(t.totals[0].ns, 18);
	throttles_free(&t);
}

static void the_end_ends_all_of_them(void **state)
{
	struct throttles t = { .longest = 10 };
	struct throttle_span span;
	uint64_t ns = 0;
	int n = 0;

	(void)state;
	begins(&t, &cycles, 0, 11, false, 100);
	begins(&t, &clocks, 0, 12, true, 105);
	begins(&t, &cycles, 1, 13, false, 50);
	for (; throttles_finish(&t, 108, &span); n++)
		ns += span.to - span.from;
	assert_int_equal(n, 3);
	assert_int_equal(ns, 8 + 3 + 10);
	assert_int_equal(t.nopen, 0);
	throttles_free(&t);
}

static void members_of_a_group_share_an_id(void **state)
{
	const struct throttle_who of_clocks = { &clocks, 0, 11, false };
	struct throttles t = { .longest = 10 };
	struct throttle_span span;

	(void)state;
	begins(&t, &cycles, 0, 11, false, 100);
	begins(&t, &clocks, 0, 11, false, 100);
	assert_int_equal(t.nopen, 2);
	assert_true(ends(&t, 11, 104, &span));
	is_span(&span, &cycles, 0, 100, 104);
	assert_true(throttles_end(&t, &of_clocks, 105, &span));
	is_span(&span, &clocks, 0, 100, 105);
	throttles_free(&t);
}

/* A hostile recording has as many ids as it has room. */
static void memory_is_bounded(void **state)
{
	struct throttles t = { .longest = 10 };
	const int many = 100000;
	int refused = 0;

	(void)state;
	for (int i = 0; i < many; i++) {
		const struct throttle_who who = { &cycles, 0, (uint64_t)i, false };

		refused += throttles_begin(&t, &who, 100) != 0;
	}
	assert_int_equal(t.times, many);
	assert_int_equal(t.totals[0].times, many);
	assert_in_range(t.nopen, 1, 65536);
	assert_int_equal(t.nopen + (size_t)refused, many);
	throttles_free(&t);
}

static void a_trifle_is_no_line(void **state)
{
	(void)state;
	assert_false(throttle_matters(0, 1000000));
	assert_false(throttle_matters(9999, 1000000));
	assert_true(throttle_matters(10000, 1000000));
	assert_true(throttle_matters(1000000, 1000000));
	assert_true(throttle_matters(1, 0));   /* of what it is a part is not known */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unthrottle_ends_a_span),
		cmocka_unit_test(the_second_sample_ends_a_span),
		cmocka_unit_test(a_task_is_throttled_for_a_tick_at_most),
		cmocka_unit_test(the_end_ends_all_of_them),
		cmocka_unit_test(members_of_a_group_share_an_id),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_trifle_is_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
