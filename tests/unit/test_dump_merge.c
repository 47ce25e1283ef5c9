/* SPDX-License-Identifier: Apache-2.0 */
/* Native and Python functions as one stack. */
#include "checks.h"

#include "analysis/dump_merge.h"

static const struct frame read_ = { .symbol = "read" }, call = { .symbol = "call", .inlined = true },
			  loop = { .symbol = "_PyEval_EvalFrameDefault" }, cold = { .symbol = "_PyEval_EvalFrameDefault.cold" },
			  other = { .symbol = "_PyEval_EvalFrameDefaults" }, start = { .symbol = "_start" }, none = { .symbol = NULL },
			  trampoline = { .symbol = "py::f:/srv/job.py" }, cpp = { .symbol = "py::detail::call(int)" };

static struct dump_script script(const char *name, unsigned int in)
{
	return (struct dump_script){ .frame = { .symbol = name, .script = true }, .call = in };
}

/* names: of the merged stack, each followed by a space; NULL: it cannot be merged. */
static void check(const struct frame *const *native, size_t nnative, const struct dump_script *scripts, size_t n,
		  unsigned int calls, const char *names)
{
	struct dump_frames in = { .v = (const struct frame **)(uintptr_t)native, .n = nnative }, out = { 0 };
	char text[256] = "";

	assert_int_equal(dump_merge(&out, &in, scripts, n, calls), names != NULL);
	for (size_t i = 0; i < out.n; i++) {
		strcat(text, out.v[i]->symbol ? out.v[i]->symbol : "?");
		strcat(text, " ");
	}
	assert_string_equal(text, names ? names : "");
	free(out.v);
}

TEST(calls_of_the_loop_are_replaced)
{
	const struct frame *const native[] = { &read_, &call, &loop, &none, &other, &call, &cold, &call, &start };
	const struct dump_script scripts[] = { script("f", 0), script("g", 0), script("h", 1) };

	check(native, 9, scripts, 3, 2, "read f g ? _PyEval_EvalFrameDefaults h call _start ");
	/* a call of the loop whose functions are not shown */
	check(native, 9, scripts + 2, 1, 2, "read ? _PyEval_EvalFrameDefaults h call _start ");
	check(native, 9, scripts, 2, 2, "read f g ? _PyEval_EvalFrameDefaults call _start ");
}

TEST(trampolines_of_functions_are_left_out)
{
	const struct frame *const native[] = { &cpp, &loop, &trampoline, &start };
	const struct dump_script scripts[] = { script("f", 0) };

	check(native, 4, scripts, 1, 1, "py::detail::call(int) f _start ");
}

TEST(other_numbers_of_calls)
{
	const struct frame *const native[] = { &read_, &loop, &start };
	const struct dump_script scripts[] = { script("f", 0), script("g", 1) };

	assert_int_equal(dump_loops(&(struct dump_frames){ .v = (const struct frame **)(uintptr_t)native, .n = 3 }), 1);
	check(native, 3, scripts, 2, 2, NULL);
	check(native, 3, scripts, 2, 0, NULL);
	check(native, 0, scripts, 2, 2, NULL);
	check(native, 1, scripts, 0, 0, "read ");
	check(native, 0, NULL, 0, 0, "");
}
