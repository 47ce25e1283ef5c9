/* SPDX-License-Identifier: Apache-2.0 */
/* Room for open files. Each test runs in a child, which has limits of its own. */
#include "checks.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"

enum { HELD = 0, WRONG_ANSWER, WRONG_SOFT, WRONG_HARD, NOT_OPENED, NO_LIMIT };

/* The numbers from here on are free. */
static int free_number(void)
{
	int fd = eventfd(0, 0);

	closefrom(fd);
	return fd;
}

static void limit(rlim_t soft, rlim_t hard)
{
	if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){ soft, hard }))
		_exit(NO_LIMIT);
}

/* Reserves n and, where that succeeds, opens that many. */
static int reserve(size_t n, bool expected)
{
	if (descriptors_reserve(n) != expected)
		return WRONG_ANSWER;
	for (size_t i = 0; expected && i < n; i++)
		if (eventfd(0, 0) < 0)
			return NOT_OPENED;
	return HELD;
}

static int limits_are(rlim_t soft, rlim_t hard)
{
	struct rlimit now;

	getrlimit(RLIMIT_NOFILE, &now);
	return now.rlim_cur != soft ? WRONG_SOFT : now.rlim_max != hard ? WRONG_HARD : HELD;
}

static int enough(void)
{
	rlim_t first = (rlim_t)free_number();
	int rc;

	limit(first + 20, first + 40);
	rc = reserve(20, true);
	return rc ? rc : limits_are(first + 20, first + 40);
}

static int soft_is_raised_by_what_it_takes(void)
{
	rlim_t first = (rlim_t)free_number();
	int rc;

	limit(first + 2, first + 40);
	rc = reserve(30, true);
	return rc ? rc : limits_are(first + 30, first + 40);
}

static int soft_is_raised_though_all_are_taken(void)
{
	rlim_t first = (rlim_t)free_number();

	limit(first, first + 40);
	return reserve(10, true);
}

static int holes_are_no_harm(void)
{
	rlim_t first = (rlim_t)free_number();

	limit(first + 30, first + 80);
	for (int i = 0; i < 20; i++)
		dup2(0, (int)first + i);
	close((int)first + 3);
	return reserve(40, true);
}

/* Or raised, where we may. */
static int hard_is_the_end(void)
{
	rlim_t first = (rlim_t)free_number(), hard = first + 40;
	bool may;

	limit(first + 2, hard);
	may = !setrlimit(RLIMIT_NOFILE, &(struct rlimit){ first + 2, hard + 1 });
	if (reserve(100, may))
		return WRONG_ANSWER;
	return limits_are(may ? first + 100 : hard, may ? first + 100 : hard);
}

static int more_than_the_kernel_has(void)
{
	return descriptors_reserve((size_t)1 << 40) ? WRONG_ANSWER : HELD;
}

TEST(limits)
{
	static const struct {
		const char *name;
		int (*body)(void);
	} rows[] = {
		{ "enough", enough }, { "soft is raised by what it takes", soft_is_raised_by_what_it_takes },
		{ "soft is raised though all are taken", soft_is_raised_though_all_are_taken },
		{ "holes are no harm", holes_are_no_harm }, { "hard is the end", hard_is_the_end },
		{ "more than the kernel has", more_than_the_kernel_has },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int status = 0;
		pid_t pid = fork();

		if (!pid)
			_exit(rows[i].body());
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status)
			fail_msg("%s: %#x", rows[i].name, status);
	}
}

TEST(hints_belong_to_their_errno)
{
	struct rlimit now;
	char buf[256], number[32];

	getrlimit(RLIMIT_NOFILE, &now);
	snprintf(number, sizeof(number), " %llu,", (unsigned long long)now.rlim_max);
	assert_non_null(strstr(descriptors_hint(EMFILE, buf, sizeof(buf)), number));
	assert_non_null(strstr(descriptors_hint(EMFILE, buf, sizeof(buf)), "ulimit -n"));
	assert_non_null(strstr(descriptors_hint(ENFILE, buf, sizeof(buf)), "fs.file-max"));
	assert_string_equal(descriptors_hint(ENOENT, buf, sizeof(buf)), "");
	assert_string_equal(descriptors_hint(0, buf, sizeof(buf)), "");
}
