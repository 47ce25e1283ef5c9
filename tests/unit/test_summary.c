/* SPDX-License-Identifier: Apache-2.0 */
/* Events that the kernel counted, but did not deliver. */
#include "cmocka_all.h"

#include "stream/state/state.h"
#include "stream/summary.h"

static uint64_t missing(struct stream_totals totals)
{
	struct stream s = { .loss = { .totals = totals } };
	uint64_t counted, n = summary_missing(&s, &counted);

	assert_int_equal(counted, totals.counted);
	return n;
}

static void what_has_a_reason_is_not_missing(void **state)
{
	const struct stream_totals all = {
		.delivered = 1000, .lost = 200, .malformed = 30, .limited = 4, .skipped = 5, .filtered = 6, .beyond = 7, .counted = 1252,
	};

	assert_int_equal(missing(all), 0);
	assert_int_equal(missing((struct stream_totals){ .delivered = 82, .counted = 97 }), 15);
	assert_int_equal(missing((struct stream_totals){ .delivered = 82, .skipped = 10, .counted = 97 }), 5);
}

static void it_may_be_unknown(void **state)
{
	assert_int_equal(missing((struct stream_totals){ .delivered = 82, .counted = 97, .counted_other = true }), 0);
	assert_int_equal(missing((struct stream_totals){ .delivered = 100, .counted = 97 }), 0);   /* after a source's -N */
	assert_int_equal(missing((struct stream_totals){ .delivered = 100 }), 0);                  /* the counts were not read */
}

static void nothing_is_missing_after_the_consumers_stop(void **state)
{
	struct stream s = { .loss.totals = { .delivered = 68, .counted = 5146 }, .run.stop = STOP_CONSUMER };   /* -N 68 */
	uint64_t counted;

	assert_int_equal(summary_missing(&s, &counted), 0);
	s.run.stop = STOP_SIGNAL;
	assert_int_equal(summary_missing(&s, &counted), 5078);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_a_reason_is_not_missing),
		cmocka_unit_test(it_may_be_unknown),
		cmocka_unit_test(nothing_is_missing_after_the_consumers_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
