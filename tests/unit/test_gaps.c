/* SPDX-License-Identifier: Apache-2.0 */
/* What spans a time in which a CPU lost events. */
#include "cmocka_all.h"

#include "analysis/durations/gaps.h"

static void spans(void **state)
{
	struct gaps g = { 0 };

	assert_false(gaps_since(&g, 0, 0));
	gaps_add(&g, &(struct stream_loss){ .count = 3, .cpu = 70, .start = 10, .end = 20 });
	assert_true(gaps_since(&g, 70, 5));
	assert_true(gaps_since(&g, 70, 19));
	assert_false(gaps_since(&g, 70, 20));
	assert_false(gaps_since(&g, 69, 5));
	assert_false(gaps_since(&g, 100000, 5));
	gaps_add(&g, &(struct stream_loss){ .count = 1, .cpu = 70, .start = 30, .end = 40 });
	gaps_add(&g, &(struct stream_loss){ .cpu = 70, .cause = STREAM_LOSS_THROTTLED, .end = 90 });   /* no count: nothing went */
	assert_true(gaps_since(&g, 70, 39));
	assert_false(gaps_since(&g, 70, 40));
	gaps_free(&g);
}

/* Damage of a recording: on which CPU, nobody knows. */
static void no_cpu_is_every_cpu(void **state)
{
	struct gaps g = { 0 };

	gaps_add(&g, &(struct stream_loss){ .count = 1, .cpu = 30, .end = 10 });
	gaps_add(&g, &(struct stream_loss){ .count = 1, .cpu = -1, .start = 10, .end = 20 });
	assert_true(gaps_since(&g, 0, 19));
	assert_true(gaps_since(&g, 100000, 5));
	assert_false(gaps_since(&g, 30, 20));
	gaps_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(spans), cmocka_unit_test(no_cpu_is_every_cpu) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
