/* SPDX-License-Identifier: Apache-2.0 */
/* The current folders of processes. */
#include "cmocka_all.h"

#include "analysis/durations/folders.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { SHELL = 10, CHILD = 11, NOBODY = 999999999 };   /* NOBODY: above the kernel's limit of ids */

static uint64_t the_time(void *ctx)
{
	return *(const uint64_t *)ctx;
}

static void check(struct folders *f, pid_t pid, const char *path, const char *expected)
{
	char text[PATH_MAX];

	assert_true(folders_resolve(f, pid, path, text, sizeof(text)));
	assert_string_equal(text, expected);
}

static void check_unknown(struct folders *f, pid_t pid)
{
	char text[PATH_MAX];

	assert_false(folders_resolve(f, pid, "a", text, sizeof(text)));
}

static void task(struct folders *f, uint32_t type, pid_t pid, pid_t ppid, uint64_t time)
{
	const struct pev_record rec = {
		.type = type,
		.task = { .pid = (uint32_t)pid, .tid = (uint32_t)pid, .ppid = (uint32_t)ppid, .ptid = (uint32_t)ppid, .time = time },
	};

	folders_take(f, &rec);
}

static void paths_lose_their_dots(void **state)
{
	struct folders f = { 0 };
	char text[8];

	folders_change(&f, SHELL, "/srv//log/./x/../", 1);
	check(&f, SHELL, "a.log", "/srv/log/a.log");
	check(&f, SHELL, "./b//c/", "/srv/log/b/c");
	check(&f, SHELL, "../../../etc", "/etc");
	check(&f, SHELL, "..", "/srv");
	check(&f, SHELL, "../..", "/");
	check(&f, SHELL, ".", "/srv/log");
	assert_false(folders_resolve(&f, SHELL, "a", text, sizeof(text)));
	folders_change(&f, SHELL, "/", 2);
	check(&f, SHELL, "a", "/a");
	folders_forget(&f);
}

static void recordings_have_only_what_happens_in_them(void **state)
{
	struct folders f = { 0 };

	folders_change(&f, SHELL, "below", 1);
	check_unknown(&f, SHELL);
	check_unknown(&f, getpid());
	folders_change(&f, SHELL, "/srv", 2);
	task(&f, PERF_RECORD_FORK, CHILD, SHELL, 3);
	folders_change(&f, CHILD, "log", 4);
	check(&f, CHILD, "a", "/srv/log/a");
	check(&f, SHELL, "a", "/srv/a");
	folders_change(&f, SHELL, "", 5);
	check_unknown(&f, SHELL);
	task(&f, PERF_RECORD_EXIT, CHILD, SHELL, 6);
	check_unknown(&f, CHILD);
	folders_forget(&f);
}

static void what_was_read_is_newer_than_calls_before(void **state)
{
	uint64_t time = 100;
	struct folders f = { .now = the_time, .ctx = &time };
	char here[PATH_MAX], expected[PATH_MAX + 2];

	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(expected, sizeof(expected), "%s/a", here);
	folders_read_all(&f);
	check(&f, getpid(), "a", expected);
	folders_change(&f, getpid(), "/srv", 99);
	task(&f, PERF_RECORD_FORK, getpid(), SHELL, 98);
	check(&f, getpid(), "a", expected);
	folders_change(&f, getpid(), "/srv", 101);
	check(&f, getpid(), "a", "/srv/a");
	task(&f, PERF_RECORD_FORK, NOBODY, getpid(), 102);
	check(&f, NOBODY, "a", "/srv/a");
	folders_change(&f, getpid(), "", 103);      /* it is read again */
	check(&f, getpid(), "a", expected);
	folders_change(&f, NOBODY, "", 104);
	check_unknown(&f, NOBODY);
	folders_forget(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_lose_their_dots), cmocka_unit_test(recordings_have_only_what_happens_in_them),
		cmocka_unit_test(what_was_read_is_newer_than_calls_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
