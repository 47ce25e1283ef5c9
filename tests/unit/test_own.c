/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are perf-prof's own: helpers that came before the events and after them, many. */
#include "cmocka_all.h"

#include "stream/own.h"

#include <unistd.h>

static void helpers_before_and_after(void **state)
{
	struct own o = { 0 };
	uint32_t us = (uint32_t)getpid();

	own_add(&o, (pid_t)us + 1);
	assert_false(own_has(&o, us + 1));
	own_begin(&o, true);
	own_add(&o, (pid_t)us + 2);
	assert_true(own_has(&o, us) && own_has(&o, us + 1) && own_has(&o, us + 2));
	assert_false(own_has(&o, us + 3));
	/* alike in the last bits, and still another one */
	assert_true(own_may_have(&o, us + 4096));
	assert_false(own_has(&o, us + 4096));
	assert_false(own_has(&o, 0));
	assert_false(own_has(&o, UINT32_MAX));
}

static void nobody_where_tasks_are_chosen(void **state)
{
	struct own o = { 0 };

	own_begin(&o, true);
	own_begin(&o, false);
	own_add(&o, 1234);
	assert_false(own_may_have(&o, (uint32_t)getpid()));
	assert_false(own_has(&o, 1234));
	own_begin(&o, true);
	assert_true(own_has(&o, 1234));
}

/* A hostile file kills a worker, and another one is started: the newest are known, and this process. */
static void many(void **state)
{
	struct own o = { 0 };

	own_begin(&o, true);
	for (pid_t pid = 1 << 20; pid < (1 << 20) + 1000; pid++)
		own_add(&o, pid);
	assert_true(own_has(&o, (uint32_t)getpid()));
	for (uint32_t i = 1000 - (OWN_MAX - 1); i < 1000; i++)
		assert_true(own_has(&o, (1 << 20) + i));
	assert_false(own_has(&o, 1 << 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helpers_before_and_after),
		cmocka_unit_test(nobody_where_tasks_are_chosen),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
