/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tasks: remembered, replaced, of those that nobody knows. */
#include "checks.h"

#include "tasks/comms.h"

#include <limits.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Above what the kernel hands out: /proc knows none of them. */
enum { NOBODY = 1 << 23 };

static struct comms *c;

static void set(pid_t tid, const char *comm)
{
	comms_set(c, tid, comm, strlen(comm));
}

static void is(pid_t tid, const char *comm)
{
	assert_string_equal(comms_get(c, tid), comm);
}

static int set_up(void **state)
{
	c = comms_new(&opener_direct);
	return !c;
}

static int tear_down(void **state)
{
	comms_free(c);
	return 0;
}

TEST_WITH(names_are_remembered, set_up, tear_down)
{
	static const char *const names[] = { "one", "a longer name", "b", "" };

	set(NOBODY + 2, "two");
	for (size_t i = 0; i < COUNT(names); i++) {
		set(NOBODY + 1, names[i]);
		is(NOBODY + 1, names[i]);
	}
	is(NOBODY + 2, "two");
	comms_free(NULL);
}

/* From samples: without a NUL, or with junk behind it; from recorders that know longer ones than the kernel. */
TEST_WITH(names_end_where_their_bytes_do, set_up, tear_down)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *name;
	} rows[] = {
		{ "0123456789abcdef", 16, "0123456789abcdef" }, { "short\0junk", 10, "short" }, { "prefix", 3, "pre" }, { "none", 0, "" },
	};
	char longest[2 * COMMS_NAME];

	memset(longest, 'x', sizeof(longest));
	comms_set(c, NOBODY, longest, sizeof(longest));
	assert_int_equal(strlen(comms_get(c, NOBODY)), COMMS_NAME - 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		comms_set(c, NOBODY, rows[i].bytes, rows[i].n);
		is(NOBODY, rows[i].name);
	}
}

TEST_WITH(who_is_nobody, set_up, tear_down)
{
	is(0, "swapper");
	set(0, "not me");
	is(0, "swapper");
	is(NOBODY, "<...>");
	is(-1, "<...>");
	set(-1, "negative");
	is(-1, "<...>");
	is(INT_MIN, "<...>");
	set(NOBODY, "came later");          /* its COMM record after its first sample */
	is(NOBODY, "came later");
	set(INT_MAX, "last");
	is(INT_MAX, "last");
}

/* Its parent has ended before anybody asked for its name. */
TEST_WITH(a_child_of_nobody_is_asked, set_up, tear_down)
{
	struct pev_record fork = { .type = PERF_RECORD_FORK, .task = { .tid = (uint32_t)getpid(), .ptid = NOBODY } };
	char own[16];

	assert_int_equal(prctl(PR_GET_NAME, own), 0);
	comms_take(c, &fork);
	is(getpid(), own);
}

TEST_WITH(proc_is_asked_once, set_up, tear_down)
{
	char was[16];

	assert_int_equal(prctl(PR_GET_NAME, was), 0);
	assert_int_equal(prctl(PR_SET_NAME, "0123456789abcdefgh"), 0);
	is(getpid(), "0123456789abcde");
	assert_int_equal(prctl(PR_SET_NAME, "a\nb\n"), 0);
	is(getpid(), "0123456789abcde");
	tear_down(state);
	set_up(state);
	is(getpid(), "a\nb\n");
	prctl(PR_SET_NAME, was);
}

TEST_WITH(ten_thousand_tasks, set_up, tear_down)
{
	enum { N = 10000 };
	char name[16];

	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < N; i++) {
			snprintf(name, sizeof(name), "task-%d/%d", i, turn);
			set(NOBODY + i * (i & 1 ? 1 : 64), name);
		}
	for (int i = 0; i < N; i++) {
		int tid = NOBODY + i * (i & 1 ? 1 : 64);

		/* a multiple of 64 below N is an odd one's neighbour, never the same */
		snprintf(name, sizeof(name), "task-%d/1", i);
		is(tid, name);
	}
	is(NOBODY - 1, "<...>");
}

#define SECOND UINT64_C(1000000000)

TEST_WITH(the_dead_keep_their_names_for_a_while, set_up, tear_down)
{
	set(NOBODY + 1, "short");
	set(NOBODY + 2, "long");
	comms_exit(c, NOBODY + 1, 100 * SECOND);
	is(NOBODY + 1, "short");
	comms_exit(c, NOBODY + 3, 109 * SECOND);
	is(NOBODY + 1, "short");
	comms_exit(c, NOBODY + 3, 121 * SECOND);
	is(NOBODY + 1, "<...>");
	is(NOBODY + 2, "long");
	comms_exit(c, -1, 122 * SECOND);
}

/* The number of a dead task is given to another one. */
TEST_WITH(a_second_life, set_up, tear_down)
{
	set(NOBODY, "first");
	comms_exit(c, NOBODY, 100 * SECOND);
	set(NOBODY, "second");
	comms_exit(c, NOBODY + 1, 200 * SECOND);
	is(NOBODY, "second");
}

/* A thousand tasks a second for a quarter of an hour. */
TEST_WITH(a_machine_that_forks, set_up, tear_down)
{
	enum { RATE = 1000, SECONDS = 900 };
	pid_t tid = NOBODY;
	size_t most = 0;

	for (uint64_t s = 1; s <= SECONDS; s++)
		for (int i = 0; i < RATE; i++, tid++) {
			set(tid, "child");
			comms_exit(c, tid, s * SECOND);
			most = comms_count(c) > most ? comms_count(c) : most;
		}
	assert_true(most <= 22 * RATE);      /* the grace, and one more until it is looked after */
	comms_exit(c, NOBODY, (SECONDS + 100) * SECOND);
	assert_int_equal(comms_count(c), 0);
}

/* Nobody tells of their end: still there is one to memory. */
TEST_WITH(without_records_of_exits, set_up, tear_down)
{
	for (int i = 0; i < 1000000; i++)
		set(NOBODY + i, "x");
	assert_true(comms_count(c) <= 1 << 17);
	is(NOBODY + 999999, "x");
}
