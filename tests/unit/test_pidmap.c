/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of tasks in two PID namespaces: paired by samples and forks, unpaired, ended, hostile. */
#include "checks.h"

#include "tasks/pidmap.h"

#include <limits.h>

static struct pidmap *m;

static int set_up(void **state)
{
	m = pidmap_new(true);
	return m ? 0 : -1;
}

static int tear_down(void **state)
{
	pidmap_free(m);
	return 0;
}

TEST_WITH(samples_pair, set_up, tear_down)
{
	assert_int_equal(pidmap_sample(m, 1005, 5), 5);
	assert_int_equal(pidmap_task(m, 1005), 5);
	/* on its way out it is still who it was */
	assert_int_equal(pidmap_sample(m, 1005, -1), 5);
	/* the idle tasks are nobody's */
	assert_int_equal(pidmap_sample(m, 0, 0), 0);
	assert_int_equal(pidmap_task(m, 0), 0);
	assert_int_equal(pidmap_unpaired(m), 0);
	pidmap_free(NULL);
}

TEST_WITH(others_keep_the_outer_id_apart, set_up, tear_down)
{
	pid_t outside;

	pidmap_pair(m, 1005, 5);
	outside = pidmap_sample(m, 5, 0);
	assert_int_not_equal(outside, 5);
	assert_int_equal(pidmap_shown(outside), 5);
	assert_int_equal(pidmap_task(m, 5), outside);
	assert_int_equal(pidmap_task(m, 6), 6 | PIDMAP_OUTER);
	assert_int_equal(pidmap_unpaired(m), 2);
	/* met at last */
	assert_int_equal(pidmap_sample(m, 6, 7), 7);
	assert_int_equal(pidmap_task(m, 6), 7);
	assert_int_equal(pidmap_shown(-1), -1);
	assert_int_equal(pidmap_shown(7), 7);
}

TEST_WITH(ids_come_again, set_up, tear_down)
{
	pidmap_pair(m, 1005, 5);
	pidmap_forget(m, 1005);
	assert_int_equal(pidmap_task(m, 1005), 1005 | PIDMAP_OUTER);
	pidmap_pair(m, 1005, 8);
	assert_int_equal(pidmap_task(m, 1005), 8);
	/* somebody outside has it now */
	assert_int_equal(pidmap_sample(m, 1005, 0), 1005 | PIDMAP_OUTER);
}

TEST_WITH(forks_pair, set_up, tear_down)
{
	pidmap_born(m, 5, 6);
	pidmap_born(m, 9, 10);
	pidmap_pair_born(m, 5, 1006);
	assert_int_equal(pidmap_task(m, 1006), 6);
	/* its record was lost: the one before it says nothing of this one */
	pidmap_pair_born(m, 5, 1007);
	assert_int_equal(pidmap_task(m, 1007), 1007 | PIDMAP_OUTER);
	pidmap_pair_born(m, 9, 1010);
	assert_int_equal(pidmap_task(m, 1010), 10);
}

/* Of recordings: most are of one namespace. */
TEST_WITH(one_namespace_until_a_sample_shows_two, set_up, tear_down)
{
	pidmap_free(m);
	m = pidmap_new(false);
	assert_int_equal(pidmap_sample(m, 7, 7), 7);
	assert_int_equal(pidmap_sample(m, 8, -1), -1);
	assert_int_equal(pidmap_task(m, 9), 9);
	assert_int_equal(pidmap_unpaired(m), 0);
	assert_int_equal(pidmap_sample(m, 1005, 5), 5);
	assert_int_equal(pidmap_task(m, 9), 9 | PIDMAP_OUTER);
}

TEST_WITH(hostile_ids, set_up, tear_down)
{
	static const pid_t ids[] = { INT_MIN, -2, -1, 1 << 22, PIDMAP_OUTER, INT_MAX };

	for (size_t i = 0; i < COUNT(ids); i++) {
		pidmap_pair(m, ids[i], 5);
		pidmap_sample(m, ids[i], ids[i]);
		pidmap_born(m, ids[i], ids[i]);
		pidmap_pair_born(m, ids[i], 1005);
		pidmap_forget(m, ids[i]);
		assert_int_equal(pidmap_task(m, ids[i]), ids[i]);
	}
	assert_int_equal(pidmap_task(m, 1005), 1005 | PIDMAP_OUTER);
}
