/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are perf-prof's own: helpers that came before the events and after them, many. */
#include "cmocka_all.h"

#include "stream/live/own.h"

#include <unistd.h>

static void helpers_before_and_after(void **state)
{
	struct own o = { 0 };
	uint32_t us = (uint32_t)getpid();

	own_add(&o, (pid_t)us + 1);
	assert_false(own_has(&o, us + 1, 1));
	own_begin(&o, true);
	own_add(&o, (pid_t)us + 2);
	assert_true(own_has(&o, us, 1) && own_has(&o, us + 1, 1) && own_has(&o, us + 2, 1));
	assert_false(own_has(&o, us + 3, 1));
	/* alike in the last bits, and still another one */
	assert_true(own_may_have(&o, us + 4096));
	assert_false(own_has(&o, us + 4096, 1));
	assert_false(own_has(&o, 0, 1));
	assert_false(own_has(&o, UINT32_MAX, 1));
}

static void nobody_where_tasks_are_chosen(void **state)
{
	struct own o = { 0 };

	own_begin(&o, true);
	own_begin(&o, false);
	own_add(&o, 1234);
	assert_false(own_may_have(&o, (uint32_t)getpid()));
	assert_false(own_has(&o, 1234, 1));
	own_begin(&o, true);
	assert_true(own_has(&o, 1234, 1));
}

/* A hostile file kills a worker, and another one is started: the newest are known, and this process. */
static void many(void **state)
{
	struct own o = { 0 };

	own_begin(&o, true);
	for (pid_t pid = 1 << 20; pid < (1 << 20) + 1000; pid++)
		own_add(&o, pid);
	assert_true(own_has(&o, (uint32_t)getpid(), 1));
	for (uint32_t i = 1000 - (OWN_MAX - 1); i < 1000; i++)
		assert_true(own_has(&o, (1 << 20) + i, 1));
	assert_false(own_has(&o, 1 << 20, 1));
}

/* Its number is a stranger's after that, or another helper's. */
static void one_that_ended(void **state)
{
	const uint64_t second = 1000000000;
	struct own o = { 0 };

	own_begin(&o, true);
	own_add(&o, 1 << 20);
	own_ended(&o, 1 << 20, 50);
	assert_true(own_has(&o, 1 << 20, 40) && own_has(&o, 1 << 20, 60));   /* as it leaves its CPU */
	assert_false(own_has(&o, 1 << 20, 51 + second));
	own_add(&o, 1 << 20);
	assert_true(own_has(&o, 1 << 20, 100 * second));
	own_ended(&o, 1 << 20, 200 * second);
	assert_false(own_has(&o, 1 << 20, 202 * second));
	own_ended(&o, 1 << 20, 300 * second);   /* the stranger's */
	assert_false(own_has(&o, 1 << 20, 250 * second));
	assert_true(own_has(&o, 1 << 20, 40));
	/* we have not */
	own_ended(&o, (uint32_t)getpid(), 50);
	assert_true(own_has(&o, (uint32_t)getpid(), 52 * second));
}

/* A record of the first one's end comes when the second one has begun: both had that number. */
static void an_end_that_is_told_late(void **state)
{
	struct own o = { 0 };

	own_begin(&o, true);
	own_add(&o, 1 << 20);
	own_add(&o, 1 << 20);
	own_ended(&o, 1 << 20, 50);
	assert_true(own_has(&o, 1 << 20, UINT64_MAX - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helpers_before_and_after),
		cmocka_unit_test(nobody_where_tasks_are_chosen),
		cmocka_unit_test(many),
		cmocka_unit_test(one_that_ended),
		cmocka_unit_test(an_end_that_is_told_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
