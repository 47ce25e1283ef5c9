/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that need no list: TEST(name) { ... } is one of the program whose file includes this,
 * which has its main() from here. They run in the order in which they stand.
 */
#ifndef TESTS_UNIT_CHECKS_H
#define TESTS_UNIT_CHECKS_H

#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

enum { MOST_TESTS = 64 };

static struct CMUnitTest all_tests[MOST_TESTS];
static size_t all_tests_n;
static CMFixtureFunction before_all, after_all;

/* A test, and what comes before and after it. */
#define TEST_WITH(name, before, after) \
	static void name(void **state); \
	__attribute__((constructor)) static void name##_is_a_test(void) \
	{ \
		if (all_tests_n == MOST_TESTS) \
			abort(); \
		all_tests[all_tests_n++] = (struct CMUnitTest){ #name, name, before, after, NULL }; \
	} \
	static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* What comes before and after all tests of the program. */
#define AROUND_ALL(before, after) \
	__attribute__((constructor)) static void set_around_all(void) \
	{ \
		before_all = before; \
		after_all = after; \
	}

int main(void)
{
	return _cmocka_run_group_tests("tests", all_tests, all_tests_n, before_all, after_all);
}

/* Numbers one by one: ARE(NUMBERS(a, b), NUMBERS(1, 2)). */
#define NUMBERS(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)
#define ARE(...) numbers_are(__FILE__, __LINE__, __VA_ARGS__)

static inline void numbers_are(const char *file, int line, const uint64_t *are, size_t n, const uint64_t *wanted, size_t nwanted)
{
	_assert_int_equal(n, nwanted, file, line);
	for (size_t i = 0; i < n; i++)
		if (are[i] != wanted[i]) {
			print_error("number %zu: %#" PRIx64 " != %#" PRIx64 "\n", i, are[i], wanted[i]);
			_fail(file, line);
		}
}

/* That all of these words stand in a text. */
#define SAYS(text, ...) says(__FILE__, __LINE__, text, (const char *const[]){ __VA_ARGS__, NULL })

static inline void says(const char *file, int line, const char *text, const char *const *parts)
{
	for (; *parts; parts++)
		if (!text || !strstr(text, *parts)) {
			print_error("\"%s\" is not in: %s\n", *parts, text ? text : "(no text)");
			_fail(file, line);
		}
}

#endif
