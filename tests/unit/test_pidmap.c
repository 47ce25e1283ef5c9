/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of tasks in two PID namespaces: paired by samples and forks, unpaired, ended, hostile. */
#include "cmocka_all.h"

#include "tasks/pidmap.h"

#include <limits.h>

static void samples_pair(void **state)
{
	struct pidmap *m = pidmap_new(true);

	assert_non_null(m);
	assert_int_equal(pidmap_sample(m, 1005, 5), 5);
	assert_int_equal(pidmap_task(m, 1005), 5);
	/* on its way out it is still who it was */
	assert_int_equal(pidmap_sample(m, 1005, -1), 5);
	/* the idle tasks are nobody's */
	assert_int_equal(pidmap_sample(m, 0, 0), 0);
	assert_int_equal(pidmap_task(m, 0), 0);
	assert_int_equal(pidmap_unpaired(m), 0);
	pidmap_free(m);
	pidmap_free(NULL);
}

static void others_keep_the_outer_id_apart(void **state)
{
	struct pidmap *m = pidmap_new(true);
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
	pidmap_free(m);
}

static void ids_come_again(void **state)
{
	struct pidmap *m = pidmap_new(true);

	pidmap_pair(m, 1005, 5);
	pidmap_forget(m, 1005);
	assert_int_equal(pidmap_task(m, 1005), 1005 | PIDMAP_OUTER);
	pidmap_pair(m, 1005, 8);
	assert_int_equal(pidmap_task(m, 1005), 8);
	/* somebody outside has it now */
	assert_int_equal(pidmap_sample(m, 1005, 0), 1005 | PIDMAP_OUTER);
	pidmap_free(m);
}

static void forks_pair(void **state)
{
	struct pidmap *m = pidmap_new(true);

	pidmap_born(m, 5, 6);
	pidmap_born(m, 9, 10);
	pidmap_pair_born(m, 5, 1006);
	assert_int_equal(pidmap_task(m, 1006), 6);
	/* its record was lost: the one before it says nothing of this one */
	pidmap_pair_born(m, 5, 1007);
	assert_int_equal(pidmap_task(m, 1007), 1007 | PIDMAP_OUTER);
	pidmap_pair_born(m, 9, 1010);
	assert_int_equal(pidmap_task(m, 1010), 10);
	pidmap_free(m);
}

/* Of recordings: most are of one namespace. */
static void one_namespace_until_a_sample_shows_two(void **state)
{
	struct pidmap *m = pidmap_new(false);

	assert_int_equal(pidmap_sample(m, 7, 7), 7);
	assert_int_equal(pidmap_sample(m, 8, -1), -1);
	assert_int_equal(pidmap_task(m, 9), 9);
	assert_int_equal(pidmap_unpaired(m), 0);
	assert_int_equal(pidmap_sample(m, 1005, 5), 5);
	assert_int_equal(pidmap_task(m, 9), 9 | PIDMAP_OUTER);
	pidmap_free(m);
}

static void hostile_ids(void **state)
{
	static const pid_t ids[] = { INT_MIN, -2, -1, 1 << 22, PIDMAP_OUTER, INT_MAX };
	struct pidmap *m = pidmap_new(true);

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		pidmap_pair(m, ids[i], 5);
		pidmap_sample(m, ids[i], ids[i]);
		pidmap_born(m, ids[i], ids[i]);
		pidmap_pair_born(m, ids[i], 1005);
		pidmap_forget(m, ids[i]);
		assert_int_equal(pidmap_task(m, ids[i]), ids[i]);
	}
	assert_int_equal(pidmap_task(m, 1005), 1005 | PIDMAP_OUTER);
	pidmap_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_pair),
		cmocka_unit_test(others_keep_the_outer_id_apart),
		cmocka_unit_test(ids_come_again),
		cmocka_unit_test(forks_pair),
		cmocka_unit_test(one_namespace_until_a_sample_shows_two),
		cmocka_unit_test(hostile_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
