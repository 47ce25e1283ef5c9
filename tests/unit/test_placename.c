/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as people write them, and names of probes in event lists. */
#include "cmocka_all.h"

#include "events/probename.h"
#include "symbols/elf/places.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void blanks_do_not_count(void **state)
{
	assert_true(place_name_is("f(int,char)", "f(int, char)"));
	assert_true(place_name_is(" f ( int , char ) ", "f(int, char)"));
	assert_true(place_name_is("v<v<int>>", "v<v<int> >"));
	assert_false(place_name_is("f(int)", "f(int, char)"));
	assert_false(place_name_is("f(int, char)", "f(int"));
	assert_false(place_name_is("", "f"));
}

static void globs(void **state)
{
	static const struct {
		const char *glob, *name;
		bool matches;
	} rows[] = {
		{ "*", "", true }, { "*", "f", true }, { "", "", true }, { "", "f", false }, { "f", "f", true },
		{ "s::*", "s::f(int)", true }, { "s::*", "t::f", false }, { "*::f", "s::t::f", true },
		{ "*f*g*", "xfyfzg", true }, { "*f*g*", "xgyf", false }, { "f?", "fg", true }, { "f?", "f", false },
		{ "f?", "fgh", false }, { "f(int,*)", "f(int, char const*)", true }, { "a[1]*", "a[1]b", true },
		{ "a[1]*", "a1b", false }, { "**f", "f", true }, { "f**", "f", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(place_glob_matches(rows[i].glob, rows[i].name), rows[i].matches);
}

static void ends_of_names(void **state)
{
	assert_true(place_name_ends("shop::Cart::add", "add"));
	assert_true(place_name_ends("shop::Cart::add(int)", "Cart::add"));
	assert_true(place_name_ends("shop::biggest<int>", "biggest"));
	assert_true(place_name_ends("add.part.0", "add"));
	assert_true(place_name_ends("add", "add"));
	assert_false(place_name_ends("shop::Cart::address", "add"));
	assert_false(place_name_ends("shop::Cart::readd", "add"));
	assert_false(place_name_ends("shop::Cart::add", ""));
}

static void names_without_template_arguments(void **state)
{
	static const char *const rows[][2] = {
		{ "shop::Cart<double, std::map<int, T<4> > >::add<int>", "shop::Cart::add" }, { "add", "add" }, { "", "" },
		{ "a<(b)->c>::d", "a::d" }, { "operator<", "operator<" }, { "A<int>::operator<< <int>", "A::operator<< " },
		{ "operator<=><int>", "operator<=><int>" }, { "<T as Trait<U>>::f", "<T as Trait>::f" }, { "cut<off", "cut<off" },
		{ "my_operator<int>", "my_operator" }, { "A<char (*)[2]>::operator->", "A::operator->" },
	};
	char buf[100];

	for (size_t i = 0; i < COUNT(rows); i++) {
		place_name_plain(rows[i][0], buf);
		assert_string_equal(buf, rows[i][1]);
	}
}

struct row {
	const char *text, *function, *path;
	uint64_t offset;
	bool glob;
};

static const struct row rows[] = {
	{ "uprobe:main@./app", "main", "./app", 0, false },
	{ "uprobe:main@\"./a@b\"", "main", "./a@b", 0, false },
	{ "uprobe:main@./a@b/c", "main", "./a@b/c", 0, false },
	{ "uprobe:memcpy@@GLIBC_2.14@'/x'", "memcpy@@GLIBC_2.14", "/x", 0, false },
	{ "uprobe:'s::f(int, char)'@app", "s::f(int, char)", "app", 0, false },
	{ "uprobe:'s::f@x'+0x10@app", "s::f@x", "app", 16, false },
	{ "uprobe:main+4@/x", "main", "/x", 4, false },
	{ "uprobe:V::operator+@/x", "V::operator+", "/x", 0, false },
	{ "uprobe:V::operator+++4@/x", "V::operator++", "/x", 4, false },
	{ "uprobe:'V::operator+(V)'+4@/x", "V::operator+(V)", "/x", 4, false },
	{ "uretprobe:'s::*'@/x", "s::*", "/x", 0, true },
	{ "usdt:a:b@/x", "a:b", "/x", 0, false },
	{ "usdt:*:b?@/x", "*:b?", "/x", 0, true },
	{ "kprobe:do_exit+0x10", "do_exit", "", 16, false },
};

static void names_of_probes(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct spec_list list = { 0 };
		struct probe_name name;
		struct fault f = { 0 };

		assert_int_equal(spec_parse(&list, rows[i].text, NULL), 0);
		assert_int_equal(probe_name_parse(&list.items[0], &name, &f), 0);
		assert_string_equal(name.function, rows[i].function);
		assert_string_equal(name.path, rows[i].path);
		assert_int_equal(name.offset, rows[i].offset);
		assert_int_equal(name.glob, rows[i].glob);
		spec_free(&list);
	}
}

static void names_that_are_none(void **state)
{
	static const char *const bad[] = { "uprobe:main", "uprobe:@/x", "uprobe:''@/x", "uprobe:main@''", "uprobe:main+x@/x",
					   "uprobe:f*+4@/x", "uretprobe:f+4@/x", "usdt:b@/x", "usdt::b@/x", "usdt:a:@/x",
					   "kprobe:a'b'", "kprobe:f*" };

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct spec_list list = { 0 };
		struct probe_name name;
		struct fault f = { 0 };

		assert_int_equal(spec_parse(&list, bad[i], NULL), 0);
		assert_int_equal(probe_name_parse(&list.items[0], &name, &f), -1);
		assert_non_null(strchr(f.text, '^'));
		spec_free(&list);
	}
}

static void quotes_where_they_are_needed(void **state)
{
	char buf[PROBE_FUNCTION_SIZE], name[PROBE_FUNCTION_SIZE];

	probe_function_text("shop::Cart::add", "symbol", buf);
	assert_string_equal(buf, "shop::Cart::add");
	probe_function_text("f(int)", "symbol", buf);
	assert_string_equal(buf, "'f(int)'");
	probe_function_text("f<'a>", "symbol", buf);
	assert_string_equal(buf, "\"f<'a>\"");
	probe_function_text("operator\"\" _x<'a'>", "_Zli2_x", buf);
	assert_string_equal(buf, "_Zli2_x");
	memset(name, 'n', sizeof(name));
	name[0] = '(';
	name[sizeof(name) - 1] = '\0';
	probe_function_text(name, "symbol", buf);
	assert_string_equal(buf, "symbol");
	probe_path_text("/a b", buf, sizeof(buf));
	assert_string_equal(buf, "'/a b'");
	probe_path_text("./app-1.2", buf, sizeof(buf));
	assert_string_equal(buf, "./app-1.2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_do_not_count), cmocka_unit_test(globs), cmocka_unit_test(ends_of_names),
		cmocka_unit_test(names_without_template_arguments),
		cmocka_unit_test(names_of_probes), cmocka_unit_test(names_that_are_none),
		cmocka_unit_test(quotes_where_they_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
