/* SPDX-License-Identifier: Apache-2.0 */
/* What spans a time in which a CPU lost events. */
#include "checks.h"

#include "analysis/durations/gaps.h"

TEST(spans)
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
TEST(no_cpu_is_every_cpu)
{
	struct gaps g = { 0 };

	gaps_add(&g, &(struct stream_loss){ .count = 1, .cpu = 30, .end = 10 });
	gaps_add(&g, &(struct stream_loss){ .count = 1, .cpu = -1, .start = 10, .end = 20 });
	assert_true(gaps_since(&g, 0, 19));
	assert_true(gaps_since(&g, 100000, 5));
	assert_false(gaps_since(&g, 30, 20));
	gaps_free(&g);
}
