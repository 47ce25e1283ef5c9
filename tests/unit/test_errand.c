/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread does for one that goes on; and how long that one waits. */
#include "base/now.h"
#include "checks.h"

#include "symbols/errand.h"
#include "symbols/patience.h"

#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOR_EVER UINT64_MAX

enum { MANY = 100 };

struct work {
	struct errand errand;
	struct errands *all;
	sem_t *gate;             /* NULL: it takes no time */
	int *turns, turn;
	bool by_thread;
};

static void do_work(struct errand *errand)
{
	struct work *w = (struct work *)errand;

	while (w->gate && sem_wait(w->gate))
		;
	w->turn = ++*w->turns;
	w->by_thread = errands_is_thread(w->all);
}

static struct errands *e;
static sem_t gate;
static int turns;

static int set_up(void **state)
{
	e = errands_new();
	turns = 0;
	return sem_init(&gate, 0, 0);
}

static int tear_down(void **state)
{
	sem_destroy(&gate);
	return !errands_free(e);
}

TEST_WITH(one_after_another, set_up, tear_down)
{
	static struct work w[MANY];

	assert_false(errands_is_thread(e));
	for (int i = 0; i < MANY; i++) {
		w[i] = (struct work){ .errand.run = do_work, .all = e, .turns = &turns };
		assert_true(errands_send(e, &w[i].errand, false));
	}
	assert_true(errands_wait(e, &w[MANY - 1].errand, FOR_EVER));
	for (int i = 0; i < MANY; i++) {
		assert_true(errands_wait(e, &w[i].errand, 0));
		assert_int_equal(w[i].turn, i + 1);
		assert_true(w[i].by_thread);
	}
}

TEST_WITH(nobody_waits_longer, set_up, tear_down)
{
	struct work slow = { .errand.run = do_work, .all = e, .gate = &gate, .turns = &turns };
	struct work next = { .errand.run = do_work, .all = e, .turns = &turns };

	errands_send(e, &slow.errand, false);
	errands_send(e, &next.errand, false);
	assert_false(errands_wait(e, &slow.errand, 0));
	assert_false(errands_wait(e, &next.errand, 1000000));
	sem_post(&gate);
	assert_true(errands_wait(e, &next.errand, FOR_EVER));
	assert_true(errands_wait(e, &slow.errand, 0));
}

/* Those that can't wait come before those that do. */
TEST_WITH(first_ones, set_up, tear_down)
{
	struct work w[4];

	for (int i = 0; i < 4; i++) {
		w[i] = (struct work){ .errand.run = do_work, .all = e, .turns = &turns, .gate = i ? NULL : &gate };
		errands_send(e, &w[i].errand, i == 2);
	}
	sem_post(&gate);
	for (int i = 0; i < 4; i++)
		assert_true(errands_wait(e, &w[i].errand, FOR_EVER));
	assert_true(w[2].turn < w[1].turn && w[1].turn < w[3].turn);
}

/* The thread is the parent's. */
TEST_WITH(a_child_does_it_itself, set_up, tear_down)
{
	int status;
	struct work w = { .errand.run = do_work, .all = e, .turns = &turns };
	pid_t child;

	errands_send(e, &w.errand, false);
	assert_true(errands_wait(e, &w.errand, FOR_EVER));
	child = fork();
	if (!child)
		_exit(errands_send(e, &w.errand, false) || !errands_free(e));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(errands_free(NULL));
}

static bool is_pressed(void *ctx)
{
	return *(bool *)ctx;
}

TEST(patience_is_used_up)
{
	bool pressed = false;
	struct patience p = { 0 };

	assert_true(patience_left(&p, false) == FOR_EVER);
	p = (struct patience){ .is_pressed = is_pressed, .ctx = &pressed };
	assert_in_range(patience_left(&p, false), 1, 1000000000);
	pressed = true;
	assert_in_range(patience_left(&p, false), 1, 100000000);
	patience_end(&p, now_ns(CLOCK_MONOTONIC) - UINT64_C(200000000));
	assert_int_equal(patience_left(&p, false), 0);
	assert_true(patience_left(&p, true) > 0);
	pressed = false;
	assert_true(patience_left(&p, false) > 0);
	patience_end(&p, now_ns(CLOCK_MONOTONIC) - UINT64_C(5000000000));
	assert_int_equal(p.left, 0);
	p.since -= UINT64_C(5000000);        /* the last wait of many: what it brought back is no reason to wait again */
	assert_int_equal(patience_left(&p, true), 0);
	p.since -= UINT64_C(20000000000);    /* time brings it back */
	assert_true(patience_left(&p, false) > 0);
}
