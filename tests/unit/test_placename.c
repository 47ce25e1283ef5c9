/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as people write them, and names of probes in event lists. */
#include "checks.h"

#include "events/probename.h"
#include "symbols/elf/places.h"

TEST(names_that_match)
{
	static const struct {
		bool (*matches)(const char *, const char *);
		const char *one, *other;
		bool expected;
	} rows[] = {
		/* blanks do not count */
		{ place_name_is, "f(int,char)", "f(int, char)", true }, { place_name_is, " f ( int , char ) ", "f(int, char)", true },
		{ place_name_is, "v<v<int>>", "v<v<int> >", true }, { place_name_is, "f(int)", "f(int, char)", false },
		{ place_name_is, "f(int, char)", "f(int", false }, { place_name_is, "", "f", false },
		{ place_glob_matches, "*", "", true }, { place_glob_matches, "*", "f", true }, { place_glob_matches, "", "", true },
		{ place_glob_matches, "", "f", false }, { place_glob_matches, "f", "f", true },
		{ place_glob_matches, "s::*", "s::f(int)", true }, { place_glob_matches, "s::*", "t::f", false },
		{ place_glob_matches, "*::f", "s::t::f", true }, { place_glob_matches, "*f*g*", "xfyfzg", true },
		{ place_glob_matches, "*f*g*", "xgyf", false }, { place_glob_matches, "f?", "fg", true },
		{ place_glob_matches, "f?", "f", false }, { place_glob_matches, "f?", "fgh", false },
		{ place_glob_matches, "f(int,*)", "f(int, char const*)", true }, { place_glob_matches, "a[1]*", "a[1]b", true },
		{ place_glob_matches, "a[1]*", "a1b", false }, { place_glob_matches, "**f", "f", true },
		{ place_glob_matches, "f**", "f", true },
		{ place_name_ends, "shop::Cart::add", "add", true }, { place_name_ends, "shop::Cart::add(int)", "Cart::add", true },
		{ place_name_ends, "shop::biggest<int>", "biggest", true }, { place_name_ends, "add.part.0", "add", true },
		{ place_name_ends, "add", "add", true }, { place_name_ends, "shop::Cart::address", "add", false },
		{ place_name_ends, "shop::Cart::readd", "add", false }, { place_name_ends, "shop::Cart::add", "", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].matches(rows[i].one, rows[i].other) != rows[i].expected)
			fail_msg("\"%s\" and \"%s\"", rows[i].one, rows[i].other);
}

TEST(names_without_template_arguments)
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
	{ "uprobe:main@./app", "main", "./app", 0, false }, { "uprobe:main@\"./a@b\"", "main", "./a@b", 0, false },
	{ "uprobe:main@./a@b/c", "main", "./a@b/c", 0, false },
	{ "uprobe:memcpy@@GLIBC_2.14@'/x'", "memcpy@@GLIBC_2.14", "/x", 0, false },
	{ "uprobe:'s::f(int, char)'@app", "s::f(int, char)", "app", 0, false },
	{ "uprobe:'s::f@x'+0x10@app", "s::f@x", "app", 16, false }, { "uprobe:main+4@/x", "main", "/x", 4, false },
	{ "uprobe:V::operator+@/x", "V::operator+", "/x", 0, false },
	{ "uprobe:V::operator+++4@/x", "V::operator++", "/x", 4, false },
	{ "uprobe:'V::operator+(V)'+4@/x", "V::operator+(V)", "/x", 4, false },
	{ "uretprobe:'s::*'@/x", "s::*", "/x", 0, true }, { "usdt:a:b@/x", "a:b", "/x", 0, false },
	{ "usdt:*:b?@/x", "*:b?", "/x", 0, true }, { "kprobe:do_exit+0x10", "do_exit", "", 16, false },
	/* those that are none */
	{ "uprobe:main" }, { "uprobe:@/x" }, { "uprobe:''@/x" }, { "uprobe:main@''" }, { "uprobe:main+x@/x" }, { "uprobe:f*+4@/x" },
	{ "uretprobe:f+4@/x" }, { "usdt:b@/x" }, { "usdt::b@/x" }, { "usdt:a:@/x" }, { "kprobe:a'b'" }, { "kprobe:f*" },
};

TEST(names_of_probes)
{
	struct spec_list list = { 0 };
	struct probe_name name;
	struct fault f = { 0 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(spec_parse(&list, rows[i].text, NULL), 0);
		assert_int_equal(probe_name_parse(&list.items[0], &name, &f), rows[i].function ? 0 : -1);
		if (rows[i].function) {
			assert_string_equal(name.function, rows[i].function);
			assert_string_equal(name.path, rows[i].path);
			ARE(NUMBERS(name.offset, name.glob), NUMBERS(rows[i].offset, rows[i].glob));
		} else {
			SAYS(f.text, "^");
		}
		f = (struct fault){ 0 };
		spec_free(&list);
	}
}

TEST(quotes_where_they_are_needed)
{
	static const char *const texts[][3] = {
		{ "shop::Cart::add", "symbol", "shop::Cart::add" }, { "f(int)", "symbol", "'f(int)'" },
		{ "f<'a>", "symbol", "\"f<'a>\"" }, { "operator\"\" _x<'a'>", "_Zli2_x", "_Zli2_x" },
		{ "it's$(id)", "", "'it?s$(id)'" }, { "a'b\"c`id`'", "", "'a?b\"c`id`?'" },
	};
	char buf[PROBE_FUNCTION_SIZE], name[PROBE_FUNCTION_SIZE];

	for (size_t i = 0; i < COUNT(texts); i++) {
		probe_function_text(texts[i][0], texts[i][1], buf);
		assert_string_equal(buf, texts[i][2]);
	}
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
