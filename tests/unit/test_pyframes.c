/* SPDX-License-Identifier: Apache-2.0 */
/* Python functions in call chains, and what of the interpreter is left out. */
#include "engine/pyframes.h"

#include "checks.h"

static const struct frame
	kernel = { .symbol = "python", .dso = "[kernel.kallsyms]", .kernel = true },
	eval = { .symbol = "_PyEval_EvalFrameDefault", .dso = "/usr/lib/libpython3.13.so.1.0" },
	inlined = { .symbol = "Py_INCREF", .dso = "/usr/lib/libpython3.13.so.1.0", .inlined = true },
	binary = { .symbol = "Py_RunMain", .dso = "/usr/bin/python3.12" },
	extension = { .symbol = "add", .dso = "/usr/lib/python3/dist-packages/numpy/_core.so" },
	libc = { .symbol = "memcpy", .dso = "/usr/lib/x86_64-linux-gnu/libc.so.6" },
	host = { .symbol = "main", .dso = "/usr/bin/uwsgi" },
	leaf = { .symbol = "leaf", .dso = "/srv/job.py", .script = true },
	outer = { .symbol = "outer", .dso = "/srv/job.py", .script = true };

/* What is left of these frames, innermost first. */
static void merged(const char *expected, size_t n, ...)
{
	const struct frame *frames[16];
	char text[256] = "";
	va_list ap;

	va_start(ap, n);
	for (size_t i = 0; i < n; i++)
		frames[i] = va_arg(ap, const struct frame *);
	va_end(ap);
	n = pyframes_merge(frames, n);
	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", frames[i]->symbol);
	assert_string_equal(text, expected);
}

TEST(the_interpreters_work_is_that_of_the_function)
{
	merged("leaf outer", 6, &inlined, &eval, &leaf, &eval, &outer, &binary);
	merged("leaf", 1, &leaf);
	/* other code keeps its frames */
	merged("python memcpy add leaf", 5, &kernel, &libc, &extension, &eval, &leaf);
	merged("add leaf outer", 6, &extension, &eval, &leaf, &eval, &outer, &libc);
	merged("leaf main", 4, &leaf, &eval, &host, &libc);
	/* stacks without Python functions stay */
	merged("memcpy _PyEval_EvalFrameDefault Py_RunMain", 3, &libc, &eval, &binary);
	merged("", 0);
}

static void parsed(const char *symbol, const char *expected, const char *in)
{
	char name[PYFRAMES_NAME];
	const char *file;

	assert_int_equal(pyframes_parse(symbol, name, &file), expected != NULL);
	if (!expected)
		return;
	assert_string_equal(name, expected);
	assert_string_equal(file, in);
}

TEST(a_trampolines_symbol_has_name_and_file)
{
	static const char *const rows[][3] = {
		{ "py::Job.run.<locals>.<lambda>:/srv/a:b.py", "Job.run.<locals>.<lambda>", "/srv/a:b.py" },
		{ "py::_load:<frozen importlib._bootstrap>", "_load", "<frozen importlib._bootstrap>" },
		{ "py::name" }, { "py::name:" }, { "py:::/srv/a.py" }, { "py" }, { "numpy::add:x" },
		{ "py::detail::call(int)" },     /* of a C++ namespace */
	};
	static char longest[PYFRAMES_NAME + 64];

	for (size_t i = 0; i < COUNT(rows); i++)
		parsed(rows[i][0], rows[i][1], rows[i][2]);
	memset(longest, 'x', sizeof(longest) - 3);
	memcpy(longest, "py::", 4);
	memcpy(longest + sizeof(longest) - 3, ":f", 3);
	parsed(longest, NULL, NULL);
}

TEST(interpreters)
{
	static const struct {
		const char *dso;
		bool is;
	} files[] = { { "/usr/bin/python", true }, { "/usr/bin/python3.12", true }, { "libpython3.13.so.1.0", true },
		      { "/usr/bin/pythonic", false }, { "/opt/python3/lib/x.so", false }, { "[unknown]", false }, { "", false } };

	for (size_t i = 0; i < COUNT(files); i++)
		assert_int_equal(pyframes_is_interpreter(&(struct frame){ .dso = files[i].dso }), files[i].is);
	assert_false(pyframes_is_interpreter(&kernel));
}
