/* SPDX-License-Identifier: Apache-2.0 */
/* How long files of whom may be read. */
#include "checks.h"

#include "symbols/budget.h"

#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum { STRANGER = 4000000, ANOTHER };

/* Reads a file of that owner for so many seconds; false: it may not. */
static bool read_for(struct budget *b, uid_t owner, uint64_t seconds, uint64_t *ns)
{
	if (!budget_begin(b, owner, ns))
		return false;
	b->since -= seconds * SECOND;
	budget_is_over(b);
	budget_end(b);
	return true;
}

static bool is_over_after(struct budget *b, uid_t owner, uint64_t seconds, uint64_t ns)
{
	bool over;

	assert_true(budget_begin(b, owner, &ns));
	b->since -= seconds * SECOND;
	over = budget_is_over(b);
	budget_end(b);
	assert_false(budget_is_over(b));
	return over;
}

/* Any file of that owner. */
static bool reads(struct budget *b, uid_t owner, uint64_t seconds)
{
	return read_for(b, owner, seconds, &(uint64_t){ 0 });
}

TEST(a_file_has_a_bound)
{
	struct budget b = { 0 };
	uint64_t ns = 0;

	assert_true(read_for(&b, STRANGER, 3, &ns));
	assert_in_range(ns, 3 * SECOND, 4 * SECOND);
	assert_true(read_for(&b, STRANGER, 3, &ns));
	assert_false(read_for(&b, STRANGER, 0, &ns));
	assert_false(is_over_after(&(struct budget){ 0 }, STRANGER, 1, 0));
	assert_true(is_over_after(&(struct budget){ 0 }, STRANGER, 6, 0));
}

TEST(owners_and_all_strangers_have_bounds_that_grow_with_the_run)
{
	struct budget b = { 0 }, all = { 0 };

	for (int i = 0; i < 3; i++)
		assert_true(reads(&b, STRANGER, 4));
	assert_false(reads(&b, STRANGER, 0));
	assert_true(reads(&b, ANOTHER, 4));
	for (uid_t uid = STRANGER; uid < STRANGER + 8; uid++)
		assert_true(reads(&all, uid, 4));
	assert_false(reads(&all, STRANGER + 8, 0));
	b = all;
	assert_true(reads(&b, 0, 40) && reads(&b, getuid(), 40));
	assert_false(read_for(&b, 0, 0, &(uint64_t){ 60 * SECOND }));
	all.began -= 200 * SECOND;
	assert_true(read_for(&all, STRANGER + 8, 9, &(uint64_t){ 6 * SECOND }));
	assert_false(reads(&all, STRANGER + 8, 0));
}

/* What root reads for the user who ran sudo. */
TEST(the_caller_of_sudo_is_no_stranger)
{
	struct budget b;
	char uid[16];

	if (geteuid())
		skip();
	snprintf(uid, sizeof(uid), "%d", STRANGER);
	setenv("SUDO_UID", uid, 1);
	budget_init(&b, NULL, NULL);
	assert_true(reads(&b, STRANGER, 40));
	assert_true(reads(&b, STRANGER, 0));
	unsetenv("SUDO_UID");
	assert_int_equal(b.strangers, 0);
}

/* Who has no place in the table shares the last one. */
TEST(owners_are_bounded)
{
	struct budget b = { 0 };

	for (uid_t uid = STRANGER; uid < STRANGER + 1000; uid++)
		assert_true(reads(&b, uid, 0));
	assert_int_equal(b.nowners, BUDGET_OWNERS);
}

static uint64_t seconds_ago(void *ctx)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)(t.tv_sec - *(int *)ctx) * SECOND + (uint64_t)t.tv_nsec;
}

TEST(a_stop_ends_what_strangers_have)
{
	int ago = 0;
	struct budget b = { .stopped = seconds_ago, .ctx = &ago };

	assert_true(reads(&b, STRANGER, 0));
	ago = 1;
	assert_false(reads(&b, STRANGER, 0));
	assert_true(reads(&b, 0, 0));
	ago = 11;
	assert_false(reads(&b, 0, 0));
}
