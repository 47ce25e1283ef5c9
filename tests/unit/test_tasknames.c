/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for names of tasks: each name has a number of its own, as long as there are not too many. */
#include "checks.h"

#include "analysis/profiles/tasknames.h"

TEST(names)
{
	struct groups all = { 0 };
	struct script_frame a = tasknames_frame(&all, "fetch"), b = tasknames_frame(&all, "store"), again = tasknames_frame(&all, "fetch");

	assert_string_equal(a.name, "task fetch");
	assert_string_equal(b.name, "task store");
	assert_string_equal(tasknames_frame(&all, "").name, "task ");
	assert_true(a.function != b.function && a.function == again.function && a.name == again.name);
	assert_null(a.file);
	tasknames_free(&all);
}

TEST(too_many_names)
{
	struct groups all = { 0 };
	struct script_frame last = { 0 }, other;
	char name[16];

	for (int i = 0; i < TASKNAMES_MOST; i++) {
		snprintf(name, sizeof(name), "%d", i);
		other = tasknames_frame(&all, name);
		assert_true(other.function != last.function);
		last = other;
	}
	other = tasknames_frame(&all, "one more");
	assert_string_equal(other.name, "task [others]");
	assert_int_equal(tasknames_frame(&all, "and one more").function, other.function);
	assert_int_equal(tasknames_frame(&all, name).function, last.function);
	tasknames_free(&all);
}
