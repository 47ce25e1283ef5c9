/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of threads among the stacks that were seen before it was known. */
#include "checks.h"

#include "analysis/profiles/pending.h"

enum { PID = 3, TID = 4 };

static struct callstack stacks[PENDING_MOST * 2];
static uint64_t got[PENDING_MOST * 2];   /* ns of each */

static void take(void *ctx, struct callstack *stack, uint64_t ns)
{
	assert_ptr_equal(ctx, got);
	got[stack - stacks] += ns;
}

static uint64_t share(const struct groups *all, uint64_t turns, uint64_t ns)
{
	memset(got, 0, sizeof(got));
	return pending_share(all, PID, TID, turns, ns, take, got);
}

TEST(same_turn)
{
	struct groups all = { 0 };

	assert_int_equal(share(&all, 1, 10), 10);        /* nothing was kept */
	pending_add(&all, PID, TID, 1, &stacks[0]);
	pending_add(&all, PID, TID, 1, &stacks[1]);
	pending_add(&all, PID, TID + 1, 1, &stacks[2]);
	assert_int_equal(share(&all, 1, 11), 5);
	assert_true(got[0] == 3 && got[1] == 3 && got[2] == 0);
	assert_int_equal(share(&all, 1, 11), 11);        /* they are forgotten */
	groups_free(&all);
	assert_int_equal(all.n, 0);
}

/* It did not run, or not until the end. */
TEST(earlier_turns)
{
	struct groups all = { 0 };

	pending_add(&all, PID, TID, 1, &stacks[0]);
	pending_add(&all, PID, TID, 2, &stacks[1]);
	assert_int_equal(share(&all, 2, 10), 5);
	assert_true(got[0] == 0 && got[1] == 5);
	pending_add(&all, PID, TID, 2, &stacks[0]);
	assert_int_equal(share(&all, 3, 10), 10);
	assert_int_equal(share(&all, 2, 10), 10);
	groups_free(&all);
}

TEST(limits)
{
	struct groups all = { 0 };
	uint64_t rest, sum = 0;

	for (size_t i = 0; i < PENDING_MOST * 2; i++)
		pending_add(&all, PID, TID, 1, &stacks[i]);
	rest = share(&all, 1, 1000);
	for (size_t i = 0; i < PENDING_MOST * 2; i++) {
		assert_true(!got[i] == (i < PENDING_MOST));
		sum += got[i];
	}
	assert_int_equal(sum + rest, 1000);
	pending_add(&all, PID, TID, 1, &stacks[0]);
	for (pid_t tid = TID + 1; tid <= TID + PENDING_THREADS; tid++)
		pending_add(&all, PID, tid, 1, &stacks[1]);
	assert_int_equal(share(&all, 1, 10), 10);
	groups_free(&all);
}
