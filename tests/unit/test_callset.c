/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of system calls: their filters pass exactly these numbers, go to the kernel as a whole, and need few comparisons. */
#include "checks.h"

#include "analysis/syscalls/callpaths.h"
#include "analysis/syscalls/callset.h"
#include "engine/callnames.h"
#include "stream/asked/filter.h"
#include "stream/asked/kfilter.h"
#include "stream/asked/schema.h"

#include <sys/syscall.h>

struct raw {
	int64_t id, ret;
};

static const struct expr_field fields[] = {
	{ .name = "id", .kind = EXPR_FIELD_SINT, .area = SCHEMA_RAW, .offset = 0, .size = 8 },
	{ .name = "ret", .kind = EXPR_FIELD_SINT, .area = SCHEMA_RAW, .offset = 8, .size = 8 },
};
static const struct expr_schema schema = { .fields = fields, .nfields = COUNT(fields) };

static bool passes(const struct expr *filter, int64_t id, int64_t ret)
{
	const struct raw raw = { id, ret };
	struct expr_run run = { .ctx = NULL };
	struct expr_value value;

	run.area[SCHEMA_RAW].bytes = (const char *)&raw;
	run.area[SCHEMA_RAW].size = sizeof(raw);
	assert_int_equal(expr_eval(filter, &run, &value), 0);
	return value.u;
}

/* The kernel gets all of it, and its filter has a page. */
static void check_kernel(const char *text)
{
	struct expr_error err = { 0 };
	struct filter f;

	assert_int_equal(filter_split(&f, text, &schema, false, &err), FILTER_SPLIT);
	assert_non_null(f.kernel);
	assert_null(f.here);
	assert_true(strlen(f.kernel) < KFILTER_MAX);
	filter_free(&f);
}

/* exact: no gaps are filled. */
static void check(const struct callset *s, const char *also, bool exact)
{
	char *text = callset_filter(s, also);
	struct expr_error err = { 0 };
	struct filter f;

	assert_non_null(text);
	check_kernel(text);
	assert_int_equal(filter_split(&f, text, &schema, true, &err), FILTER_SPLIT);
	for (int64_t id = -3; id < CALLSET_NUMBERS + 3; id++) {
		const bool has = id == -1 ? s->left_signal : id >= 0 && ((s->newer && id >= s->newer) || (id < CALLSET_NUMBERS && s->has[id]));

		if (has || exact)
			assert_int_equal(passes(f.here, id, -1), has);
		if (also)
			assert_false(passes(f.here, id, 0));
	}
	filter_free(&f);
	free(text);
}

TEST(filters_pass_what_is_in_the_set)
{
	struct callset s = { .newer = 0 };
	unsigned int random = 1;

	check(&s, NULL, true);
	s.has[0] = true;
	check(&s, NULL, true);
	s.left_signal = true;
	check(&s, "ret<0", true);
	for (int i = 0; i < 60; i++) {
		random = random * 1103515245 + 12345;
		s.has[random >> 8 & (CALLSET_NUMBERS / 2 - 1)] = true;
		check(&s, i & 1 ? "ret<0" : NULL, true);
	}
	s.newer = 700;
	check(&s, NULL, true);
	for (int i = 0; i < CALLSET_NUMBERS; i += 2)   /* more gaps than a filter can have */
		s.has[i] = true;
	check(&s, "ret<0", false);
	for (int i = 1; i < CALLSET_NUMBERS; i += 2)
		s.has[i] = true;
	check(&s, NULL, true);
}

/* All that the kernel's own probes may see, with the calls of 32-bit programs: the longest set of a run. */
TEST(the_calls_with_a_path_fit)
{
	const struct callpaths p = { .in_programs = false };
	struct callset s = { .newer = 600 };

	if (!syscall_name(SYS_read))
		skip();
	for (int64_t i = 0; i < CALLSET_NUMBERS; i++)
		s.has[i] = callpaths_may_have(&p, i);
	check(&s, "ret<0", true);
	assert_true(s.has[SYS_openat] && s.has[SYS_connect] && s.has[SYS_io_uring_enter]);
	assert_false(s.has[SYS_read] || s.has[SYS_write] || s.has[SYS_futex]);
	assert_int_equal(s.has[SYS_close], !strcmp(syscall_name(call_of_32(SYS_close)), "open"));
#ifdef __x86_64__
	enum { OPENAT_OF_32 = 295, OPEN_OF_32 = 5 };

	if (call_of_32(OPENAT_OF_32) == OPENAT_OF_32)
		skip();
	assert_string_equal(syscall_name(call_of_32(OPENAT_OF_32)), "openat");
	assert_true(s.has[OPENAT_OF_32] && s.has[OPEN_OF_32]);
#endif
}

/* read(2) and write(2) after one comparison; the rest by halves. */
TEST(frequent_calls_are_decided_first)
{
	struct callset s = { .newer = 0 };
	char *text;

	for (int i = 2; i < 200; i += 2)
		s.has[i] = true;
	text = callset_filter(&s, NULL);
	assert_non_null(text);
	assert_int_equal(strncmp(text, "id>=2&&(id>=", strlen("id>=2&&(id>=")), 0);
	free(text);
}
