/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of tasks: who stands below whom, if tasks wait for several, for each other, or are many. */
#include "checks.h"

#include "analysis/dump_tasks.h"

enum { TID = 7 };

static void add(struct dump_tasks *all, pid_t tid, uint64_t id, const uint64_t *awaiters, size_t n)
{
	const struct pystack_task task = { .tid = tid, .id = id, .name = "", .awaiters = awaiters, .nawaiters = n };

	assert_true(dump_tasks_add(all, &task));
}

static void check(const struct dump_tasks *all, size_t i, uint64_t id, unsigned int depth)
{
	ARE(NUMBERS(all->v[i].id, all->v[i].depth), NUMBERS(id, depth));
}

TEST(tree)
{
	struct dump_tasks all = { 0 };

	assert_true(dump_tasks_sort(&all));
	add(&all, TID, 30, (uint64_t[]){ 10, 20 }, 2);
	add(&all, TID, 10, NULL, 0);
	add(&all, TID, 40, (uint64_t[]){ 30 }, 1);
	add(&all, TID, 20, (uint64_t[]){ 99 }, 1);      /* of a task that has ended */
	add(&all, TID, 50, (uint64_t[]){ 10 }, 1);
	add(&all, TID + 1, 60, (uint64_t[]){ 10 }, 1);  /* of another thread */
	assert_true(dump_tasks_sort(&all));
	check(&all, 0, 10, 0);
	check(&all, 1, 30, 1);
	check(&all, 2, 40, 2);
	check(&all, 3, 50, 1);
	check(&all, 4, 20, 0);
	check(&all, 5, 60, 0);
	ARE(NUMBERS(all.v[1].nawaiters, all.v[1].awaiters[0], all.v[1].awaiters[1], all.v[4].nawaiters, all.v[5].awaiters[0]),
	    NUMBERS(2, 0, 4, 0, 0));
	dump_tasks_free(&all);
}

/* Each of three waits for another one, the first one also for itself; a fourth one for one of them; and one is there twice. */
TEST(circles)
{
	struct dump_tasks all = { 0 };
	size_t seen[5] = { 0 };

	add(&all, TID, 1, (uint64_t[]){ 1, 3 }, 2);
	add(&all, TID, 2, (uint64_t[]){ 1 }, 1);
	add(&all, TID, 3, (uint64_t[]){ 2 }, 1);
	add(&all, TID, 4, (uint64_t[]){ 3 }, 1);
	add(&all, TID, 3, (uint64_t[]){ 2 }, 1);
	assert_true(dump_tasks_sort(&all));
	assert_int_equal(all.n, 5);
	for (size_t i = 0; i < all.n; i++)
		seen[all.v[i].id]++;
	assert_true(seen[1] == 1 && seen[2] == 1 && seen[3] == 2 && seen[4] == 1);
	check(&all, 0, 1, 0);
	check(&all, 1, 2, 1);
	check(&all, 2, 3, 2);
	check(&all, 3, 4, 3);
	dump_tasks_free(&all);
}

TEST(many)
{
	enum { N = 100000 };
	struct dump_tasks wide = { 0 }, deep = { 0 };

	for (uint64_t i = 0; i < N; i++) {
		add(&wide, TID, i + 1, (uint64_t[]){ 1 }, i > 0);
		add(&deep, TID, i + 1, &i, i > 0);
	}
	assert_true(dump_tasks_sort(&wide) && dump_tasks_sort(&deep));
	check(&wide, N - 1, N, 1);
	check(&deep, N - 1, N, N - 1);
	dump_tasks_free(&wide);
	dump_tasks_free(&deep);
}
