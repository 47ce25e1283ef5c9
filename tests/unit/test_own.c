/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are perf-prof's own: helpers that came before the events and after them, many. */
#include "checks.h"

#include "stream/live/own.h"

static struct own o;

static int forget(void **state)
{
	o = (struct own){ 0 };
	return 0;
}

TEST_WITH(helpers_before_and_after, forget, NULL)
{
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

TEST_WITH(nobody_where_tasks_are_chosen, forget, NULL)
{
	own_begin(&o, true);
	own_begin(&o, false);
	own_add(&o, 1234);
	assert_false(own_may_have(&o, (uint32_t)getpid()));
	assert_false(own_has(&o, 1234, 1));
	own_begin(&o, true);
	assert_true(own_has(&o, 1234, 1));
}

/* A hostile file kills a worker, and another one is started: the newest are known, and this process. */
TEST_WITH(many, forget, NULL)
{
	own_begin(&o, true);
	for (pid_t pid = 1 << 20; pid < (1 << 20) + 1000; pid++)
		own_add(&o, pid);
	assert_true(own_has(&o, (uint32_t)getpid(), 1));
	for (uint32_t i = 1000 - (OWN_MAX - 1); i < 1000; i++)
		assert_true(own_has(&o, (1 << 20) + i, 1));
	assert_false(own_has(&o, 1 << 20, 1));
}

/* Its number is a stranger's after that, or another helper's. */
TEST_WITH(one_that_ended, forget, NULL)
{
	const uint64_t second = 1000000000;

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
TEST_WITH(an_end_that_is_told_late, forget, NULL)
{
	own_begin(&o, true);
	own_add(&o, 1 << 20);
	own_add(&o, 1 << 20);
	own_ended(&o, 1 << 20, 50);
	assert_true(own_has(&o, 1 << 20, UINT64_MAX - 1));
}
