/* SPDX-License-Identifier: Apache-2.0 */
/* A wait is divided among all who woke somebody at its lock meanwhile. */
#include "checks.h"

#include "analysis/durations/handoffs.h"

struct parts {
	uint64_t of[8], sum;         /* by tid */
};

static void add_part(void *ctx, const struct handoff *because_of, uint64_t ns)
{
	struct parts *p = ctx;

	p->of[because_of->tid % 8] += ns;
	p->sum += ns;
}

static struct parts divide(const struct handoffs *h, uint64_t start, uint64_t end)
{
	struct parts p = { .sum = 0 };

	handoffs_divide(h, start, end, add_part, &p);
	return p;
}

static void add(struct handoffs *h, uint64_t time, pid_t tid)
{
	assert_true(handoffs_add(h, &(struct handoff){ .time = time, .tid = tid }));
}

/* One holds the lock from 0 to 100, and the others pass it on at once. */
TEST(the_queue_is_not_to_blame)
{
	struct handoffs h = { 0 };
	struct parts p;

	assert_int_equal(divide(&h, 0, 50).sum, 0);
	add(&h, 100, 1);
	add(&h, 101, 2);
	add(&h, 103, 3);
	p = divide(&h, 10, 103);
	ARE(NUMBERS(p.of[1], p.of[2], p.of[3]), NUMBERS(90, 1, 2));
	p = divide(&h, 102, 103);
	ARE(NUMBERS(p.of[3], p.sum), NUMBERS(1, 1));
	handoffs_free(&h);
}

/* A timer ended it, or nobody has yet: the time after the last wake-up is nobody's. */
TEST(the_rest_is_not_known)
{
	struct handoffs h = { 0 };
	struct parts p;

	add(&h, 100, 1);
	p = divide(&h, 50, 300);
	ARE(NUMBERS(p.of[1], p.sum), NUMBERS(50, 50));
	assert_int_equal(divide(&h, 100, 300).sum, 0);
	assert_int_equal(handoffs_latest(&h), 100);
	handoffs_free(&h);
}

/* The oldest one that is kept stands for all before it. */
TEST(many)
{
	struct handoffs h = { 0 };

	for (uint64_t i = 1; i <= 1000; i++)
		add(&h, i, (pid_t)(i % 8));
	assert_int_equal(divide(&h, 0, 1000).sum, 1000);
	assert_int_equal(divide(&h, 990, 1000).sum, 10);
	handoffs_free(&h);
}

/* Then parts may be wrong, but not longer than the wait. */
TEST(late_ones)
{
	struct handoffs h = { 0 };
	struct parts p;

	add(&h, 105, 2);
	add(&h, 100, 1);
	p = divide(&h, 50, 200);
	assert_true(p.sum <= 150 && p.of[1] <= 150 && p.of[2] <= 150);
	add(&h, 300, 3);
	p = divide(&h, 50, 200);
	assert_true(p.sum <= 150 && p.of[3] <= 150);
	handoffs_free(&h);
}
