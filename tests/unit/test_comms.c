/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tasks: remembered, replaced, of those that nobody knows. */
#include "cmocka_all.h"

#include "tasks/comms.h"

#include <limits.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Above what the kernel hands out: /proc knows none of them. */
enum { NOBODY = 1 << 23 };

static void set(struct comms *c, pid_t tid, const char *comm)
{
	comms_set(c, tid, comm, strlen(comm));
}

static void names_are_remembered(void **state)
{
	struct comms *c = comms_new(&opener_direct);

	assert_non_null(c);
	set(c, NOBODY + 1, "one");
	set(c, NOBODY + 2, "two");
	assert_string_equal(comms_get(c, NOBODY + 1), "one");
	assert_string_equal(comms_get(c, NOBODY + 2), "two");
	set(c, NOBODY + 1, "a longer name");
	assert_string_equal(comms_get(c, NOBODY + 1), "a longer name");
	set(c, NOBODY + 1, "b");
	assert_string_equal(comms_get(c, NOBODY + 1), "b");
	set(c, NOBODY + 1, "");
	assert_string_equal(comms_get(c, NOBODY + 1), "");
	comms_free(c);
	comms_free(NULL);
}

/* From samples: without a NUL, or with junk behind it; from recorders that know longer ones than the kernel. */
static void names_end_where_their_bytes_do(void **state)
{
	struct comms *c = comms_new(&opener_direct);
	char longest[2 * COMMS_NAME];

	assert_non_null(c);
	memset(longest, 'x', sizeof(longest));
	comms_set(c, NOBODY, longest, sizeof(longest));
	assert_int_equal(strlen(comms_get(c, NOBODY)), COMMS_NAME - 1);
	comms_set(c, NOBODY, "0123456789abcdef", 16);
	assert_string_equal(comms_get(c, NOBODY), "0123456789abcdef");
	comms_set(c, NOBODY, "short\0junk", 10);
	assert_string_equal(comms_get(c, NOBODY), "short");
	comms_set(c, NOBODY, "prefix", 3);
	assert_string_equal(comms_get(c, NOBODY), "pre");
	comms_set(c, NOBODY, "none", 0);
	assert_string_equal(comms_get(c, NOBODY), "");
	comms_free(c);
}

static void who_is_nobody(void **state)
{
	struct comms *c = comms_new(&opener_direct);

	assert_non_null(c);
	assert_string_equal(comms_get(c, 0), "swapper");
	set(c, 0, "not me");
	assert_string_equal(comms_get(c, 0), "swapper");
	assert_string_equal(comms_get(c, NOBODY), "<...>");
	assert_string_equal(comms_get(c, -1), "<...>");
	set(c, -1, "negative");
	assert_string_equal(comms_get(c, -1), "<...>");
	assert_string_equal(comms_get(c, INT_MIN), "<...>");
	set(c, NOBODY, "came later");          /* its COMM record after its first sample */
	assert_string_equal(comms_get(c, NOBODY), "came later");
	set(c, INT_MAX, "last");
	assert_string_equal(comms_get(c, INT_MAX), "last");
	comms_free(c);
}

static void proc_is_asked_once(void **state)
{
	struct comms *c = comms_new(&opener_direct);
	char was[16];

	assert_non_null(c);
	assert_int_equal(prctl(PR_GET_NAME, was), 0);
	assert_int_equal(prctl(PR_SET_NAME, "0123456789abcdefgh"), 0);
	assert_string_equal(comms_get(c, getpid()), "0123456789abcde");
	assert_int_equal(prctl(PR_SET_NAME, "a\nb\n"), 0);
	assert_string_equal(comms_get(c, getpid()), "0123456789abcde");
	comms_free(c);
	c = comms_new(&opener_direct);
	assert_non_null(c);
	assert_string_equal(comms_get(c, getpid()), "a\nb\n");
	prctl(PR_SET_NAME, was);
	comms_free(c);
}

static void ten_thousand_tasks(void **state)
{
	enum { N = 10000 };
	struct comms *c = comms_new(&opener_direct);
	char name[16];

	assert_non_null(c);
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < N; i++) {
			snprintf(name, sizeof(name), "task-%d/%d", i, turn);
			set(c, NOBODY + i * (i & 1 ? 1 : 64), name);
		}
	for (int i = 0; i < N; i++) {
		int tid = NOBODY + i * (i & 1 ? 1 : 64);

		/* a multiple of 64 below N is an odd one's neighbour, never the same */
		snprintf(name, sizeof(name), "task-%d/1", i);
		assert_string_equal(comms_get(c, tid), name);
	}
	assert_string_equal(comms_get(c, NOBODY - 1), "<...>");
	comms_free(c);
}

#define SECOND UINT64_C(1000000000)

static void the_dead_keep_their_names_for_a_while(void **state)
{
	struct comms *c = comms_new(&opener_direct);

	assert_non_null(c);
	set(c, NOBODY + 1, "short");
	set(c, NOBODY + 2, "long");
	comms_exit(c, NOBODY + 1, 100 * SECOND);
	assert_string_equal(comms_get(c, NOBODY + 1), "short");
	comms_exit(c, NOBODY + 3, 109 * SECOND);
	assert_string_equal(comms_get(c, NOBODY + 1), "short");
	comms_exit(c, NOBODY + 3, 121 * SECOND);
	assert_string_equal(comms_get(c, NOBODY + 1), "<...>");
	assert_string_equal(comms_get(c, NOBODY + 2), "long");
	comms_exit(c, -1, 122 * SECOND);
	comms_free(c);
}

/* The number of a dead task is given to another one. */
static void a_second_life(void **state)
{
	struct comms *c = comms_new(&opener_direct);

	assert_non_null(c);
	set(c, NOBODY, "first");
	comms_exit(c, NOBODY, 100 * SECOND);
	set(c, NOBODY, "second");
	comms_exit(c, NOBODY + 1, 200 * SECOND);
	assert_string_equal(comms_get(c, NOBODY), "second");
	comms_free(c);
}

/* A thousand tasks a second for a quarter of an hour. */
static void a_machine_that_forks(void **state)
{
	enum { RATE = 1000, SECONDS = 900 };
	struct comms *c = comms_new(&opener_direct);
	pid_t tid = NOBODY;
	size_t most = 0;

	assert_non_null(c);
	for (uint64_t s = 1; s <= SECONDS; s++)
		for (int i = 0; i < RATE; i++, tid++) {
			set(c, tid, "child");
			comms_exit(c, tid, s * SECOND);
			most = comms_count(c) > most ? comms_count(c) : most;
		}
	assert_true(most <= 22 * RATE);      /* the grace, and one more until it is looked after */
	comms_exit(c, NOBODY, (SECONDS + 100) * SECOND);
	assert_int_equal(comms_count(c), 0);
	comms_free(c);
}

/* Nobody tells of their end: still there is one to memory. */
static void without_records_of_exits(void **state)
{
	struct comms *c = comms_new(&opener_direct);

	assert_non_null(c);
	for (int i = 0; i < 1000000; i++)
		set(c, NOBODY + i, "x");
	assert_true(comms_count(c) <= 1 << 17);
	assert_string_equal(comms_get(c, NOBODY + 999999), "x");
	comms_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_remembered),
		cmocka_unit_test(names_end_where_their_bytes_do),
		cmocka_unit_test(who_is_nobody),
		cmocka_unit_test(proc_is_asked_once),
		cmocka_unit_test(ten_thousand_tasks),
		cmocka_unit_test(the_dead_keep_their_names_for_a_while),
		cmocka_unit_test(a_second_life),
		cmocka_unit_test(a_machine_that_forks),
		cmocka_unit_test(without_records_of_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
