/* SPDX-License-Identifier: Apache-2.0 */
/* Who ran on a CPU while others waited for it. */
#include "checks.h"

#include "analysis/durations/culprits.h"

enum { MANY = 1024, TASKS = 4096 };     /* runs that are kept, and tasks with rows of their own */

static void left(struct culprits *c, uint64_t time, uint32_t cpu, pid_t tid, const char *name)
{
	char comm[16] = "";

	snprintf(comm, sizeof(comm), "%s", name);
	culprits_switch(c, &(struct analysis_sample){ .time = time, .cpu = cpu }, tid, comm);
}

static void waited(struct culprits *c, uint64_t start, uint64_t end, uint32_t cpu)
{
	culprits_waited(c, &(struct analysis_sample){ .time = end, .cpu = cpu }, start);
}

/* The time of a task; 0: it has no row. */
static uint64_t time_of(struct culprits *c, pid_t tid, const char *name)
{
	for (const struct distribution *d = groups_first(&c->rows.rows); d; d = groups_next(d))
		if ((pid_t)d->key[1] == tid && !strcmp(words_text(&c->words, d->key[0]), name))
			return d->durations.sum;
	return 0;
}

static uint64_t sum(const struct culprits *c)
{
	uint64_t all = 0;

	for (const struct distribution *d = groups_first(&c->rows.rows); d; d = groups_next(d))
		all += d->durations.sum;
	return all;
}

TEST(overlaps)
{
	struct culprits c = { 0 };

	left(&c, 100, 1, 7, "before");
	left(&c, 130, 1, 8, "hog");
	left(&c, 135, 0, 5, "elsewhere");
	left(&c, 140, 1, 0, "swapper/1");
	left(&c, 160, 1, 9, "last");
	waited(&c, 90, 160, 1);
	ARE(NUMBERS(time_of(&c, 7, "before"), time_of(&c, 8, "hog"), time_of(&c, 0, "[idle]"), time_of(&c, 9, "last"), sum(&c)),
	    NUMBERS(10, 30, 10, 20, 70));
	waited(&c, 150, 160, 1);        /* another one that waited: the time counts for both */
	assert_int_equal(time_of(&c, 9, "last"), 30);
	waited(&c, 160, 160, 1);
	waited(&c, 10, 20, 3);          /* a CPU without a switch, and one that there cannot be */
	left(&c, 200, UINT32_MAX, 9, "last");
	waited(&c, 195, 200, UINT32_MAX);
	ARE(NUMBERS(time_of(&c, 0, "[not known]"), sum(&c)), NUMBERS(15, 95));
	culprits_free(&c);
}

TEST(losses_are_nobodys)
{
	struct culprits c = { 0 };

	left(&c, 100, 1, 7, "one");
	culprits_lost(&c, &(struct stream_loss){ .cpu = 1, .start = 105, .end = 200 });          /* no event went */
	culprits_lost(&c, &(struct stream_loss){ .count = 2, .cpu = 0, .start = 110, .end = 150 });
	left(&c, 130, 1, 8, "two");
	waited(&c, 90, 130, 1);
	ARE(NUMBERS(time_of(&c, 7, "one"), time_of(&c, 8, "two")), NUMBERS(10, 30));
	culprits_lost(&c, &(struct stream_loss){ .count = 2, .cpu = -1, .start = 135, .end = 150 });
	left(&c, 180, 1, 9, "three");
	waited(&c, 90, 180, 1);
	ARE(NUMBERS(time_of(&c, 9, "three"), time_of(&c, 0, "[not known]"), sum(&c)), NUMBERS(30, 60, 130));
	culprits_free(&c);
}

TEST(the_oldest_runs_go)
{
	struct culprits c = { 0 };

	for (unsigned int i = 1; i <= MANY + 100; i++)
		left(&c, 10 * i, 0, i % 2 ? 1 : 2, i % 2 ? "odd" : "even");
	waited(&c, 0, 10 * (MANY + 100), 0);
	ARE(NUMBERS(time_of(&c, 1, "odd"), time_of(&c, 2, "even"), time_of(&c, 0, "[not known]")),
	    NUMBERS(10 * MANY / 2, 10 * MANY / 2, 1000));
	culprits_free(&c);
}

TEST(many_tasks_share_rows)
{
	struct culprits c = { 0 };

	for (int i = 1; i <= TASKS + 50; i++) {
		left(&c, 10 * (uint64_t)i, 0, i, "short");
		waited(&c, 10 * (uint64_t)i - 10, 10 * (uint64_t)i, 0);
	}
	assert_int_equal(c.rows.rows.n, TASKS + 1);
	ARE(NUMBERS(time_of(&c, 1, "short"), time_of(&c, 0, "short")), NUMBERS(10, 500));
	left(&c, 50000, 0, 1, "short");
	waited(&c, 49990, 50000, 0);    /* who has a row keeps it */
	assert_int_equal(time_of(&c, 1, "short"), 20);
	culprits_free(&c);
}
