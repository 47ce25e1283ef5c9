/* SPDX-License-Identifier: Apache-2.0 */
/* Names and paths in as few columns as a terminal has. */
#include "checks.h"

#include "base/columns.h"
#include "report/fit.h"

struct row {
	const char *text;
	size_t columns;
	const char *want;
};

static void check(enum fit how, const struct row *rows, size_t n)
{
	char buf[FIT_MAX];

	for (size_t i = 0; i < n; i++) {
		const char *got = fit_text(how, rows[i].text, rows[i].columns, buf);

		if (strcmp(got, rows[i].want))
			fail_msg("%s in %zu: %s, expected %s", rows[i].text, rows[i].columns, got, rows[i].want);
		assert_true(columns_of(got) <= rows[i].columns);
	}
}

TEST(template_arguments_go_first_the_method_never)
{
	static const char cart[] = "shop::Cart<std::pair<int, long>>::add(Item const&)";
	static const struct row rows[] = {
		{ cart, 50, cart }, { cart, 49, "shop::Cart<std::pair<…>>::add(Item const&)" },
		{ cart, 41, "shop::Cart<…>::add(Item const&)" }, { cart, 30, "shop::Cart<…>::add(…)" },
		{ cart, 20, "…::Cart<…>::add(…)" }, { cart, 12, "…::add(…)" }, { cart, 8, "add(…)" },
		{ "a_function_without_parts", 10, "a_functio…" },
		{ "A<very_long, B<int>, C<int, int>>::f", 32, "A<very_long, B<int>, C<…>>::f" },
		{ "foo<wide>(bar<int>) [clone .part.0]", 29, "foo<…>(…) [clone .part.0]" },
		{ "std::map<std::string, std::vector<int, std::allocator<int>>>::insert", 56,
		  "std::map<std::string, std::vector<…>>::insert" },
		{ "std::map<std::string, std::vector<int, std::allocator<int>>>::insert", 24, "std::map<…>::insert" },
		{ "ns::(anonymous namespace)::Long<int>::run", 40, "ns::(anonymous namespace)::Long<…>::run" },
		{ "ns::(anonymous namespace)::Long<int>::run", 20, "…::Long<…>::run" },
	};

	check(FIT_NAME, rows, COUNT(rows));
}

TEST(operators_have_brackets_of_their_own)
{
	static const struct row rows[] = {
		{ "Point<int>::operator<", 20, "Point<…>::operator<" },
		{ "Point<int>::operator<<", 21, "Point<…>::operator<<" },
		{ "Point<int, int>::operator<=>", 26, "Point<…>::operator<=>" },
		{ "operator< <int, long>(Point<int>)", 26, "operator< <…>(Point<int>)" },
		{ "ns::Handler<A, B>::operator()(int, int) const", 36, "ns::Handler<…>::operator()(…) const" },
		{ "ns::Handler<A, B>::operator()(int, int) const", 28, "…::operator()(…) const" },
		{ "Pointer<Thing, Other>::operator->", 30, "Pointer<…>::operator->" },
		{ "Pointer<Thing, Other>::operator->*", 25, "Pointer<…>::operator->*" },
		{ "Value<Thing, Other>::operator Thing<int>", 37, "Value<…>::operator Thing<int>" },
		{ "ns::operator!=<std::pair<int, int>, int>", 34, "ns::operator!=<std::pair<…>, int>" },
		{ "my_operator<int, long>::f", 20, "my_operator<…>::f" },
	};

	check(FIT_NAME, rows, COUNT(rows));
}

TEST(lambdas_keep_their_function)
{
	static const struct row rows[] = {
		{ "Cart<int, long>::total(int)::{lambda(int, int)#1}::operator()", 55,
		  "Cart<…>::total(int)::{lambda(int, int)#1}::operator()" },
		{ "Cart<int, long>::total(int)::{lambda(int, int)#1}::operator()", 50,
		  "Cart<…>::total(int)::{lambda(…)#1}::operator()" },
		{ "Cart<int, long>::total(int)::{lambda(int, int)#1}::operator()", 40, "…::total(…)::{lambda(…)#1}::operator()" },
		{ "Cart<int, long>::{lambda at cart.cc:12}", 36, "Cart<…>::{lambda at cart.cc:12}" },
		{ "tokio::runtime::task::poll::{{closure}}", 24, "…::poll::{{closure}}" },
	};

	check(FIT_NAME, rows, COUNT(rows));
}

TEST(names_of_rust)
{
	static const char fmt[] = "<impl core::fmt::Display for alloc::string::String>::fmt";
	static const struct row rows[] = {
		{ fmt, 40, "<impl Display for String>::fmt" }, { fmt, 20, "…::fmt" },
		{ "<alloc::vec::Vec<u8, A> as core::ops::Drop>::drop", 48, "<alloc::vec::Vec<…> as core::ops::Drop>::drop" },
		{ "<alloc::vec::Vec<u8, A> as core::ops::Drop>::drop", 30, "<Vec<…> as Drop>::drop" },
		{ "core::ptr::drop_in_place::<alloc::string::String>", 30, "core::ptr::drop_in_place::<…>" },
		{ "core::ptr::drop_in_place::<alloc::string::String>", 25, "…::drop_in_place::<…>" },
		{ "core::ptr::mut_ptr::<impl *mut T>::add", 30, "…::mut_ptr::<impl *mut T>::add" },
		{ "f::<fn(u8) -> alloc::vec::Vec<u8>, usize>", 12, "f::<…>" },
	};

	check(FIT_NAME, rows, COUNT(rows));
}

TEST(names_of_other_languages)
{
	static const struct row rows[] = {
		{ "py::checkout:/home/me/shop/src/cart.py", 25, "py::checkout:…/cart.py" },
		{ "JS:*checkout /home/me/shop/src/cart.js:10:5", 34, "JS:*checkout …/src/cart.js:10:5" },
		{ "github.com/me/shop.(*Cart).Add", 20, "…/shop.(*Cart).Add" },
		{ "Ljava/util/HashMap;::resize", 20, "…::resize" }, { "do_syscall_64", 8, "do_sysc…" },
	};

	check(FIT_NAME, rows, COUNT(rows));
}

TEST(indents_and_remarks_stay)
{
	static const struct row rows[] = {
		{ "    shop::Cart<int, long>::add (inlined)", 36, "    shop::Cart<…>::add (inlined)" },
		{ "shop::Cart<int, long>::add (inlined) (blocked)", 40, "shop::Cart<…>::add (inlined) (blocked)" },
		{ "one_long_function (blocked)", 20, "one_long_… (blocked)" },
		{ "one_long_function (blocked)", 10, "one_long_…" },
	};

	check(FIT_NAME, rows, COUNT(rows));
}

TEST(what_has_no_meaning_is_cut_between_characters)
{
	static const struct row rows[] = {
		{ "a<b<c<d::eeeeeeeeee", 12, "eeeeeeeeee" }, { "a>b)c}d]::eeeeeeeee", 12, "…::eeeeeeeee" },
		{ "f(a<b)::gggggg<h, i>", 18, "f(a<b)::gggggg<…>" }, { "(((((((((((((((((((", 12, "(((((((((((…" },
		{ "::::::::::::::::::::", 12, "…::::::::::" },
		{ "größe::ähnlich<straße>::übel", 24, "größe::ähnlich<…>::übel" }, { "日本語の長い名前の関数", 13, "日本語の長い…" },
		{ "日本語の長い名前の関数", 12, "日本語の長…" },
	};

	check(FIT_NAME, rows, COUNT(rows));
}

TEST(paths_lose_folders)
{
	static const struct row rows[] = {
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", 34, "…/lib/x86_64-linux-gnu/libc.so.6" },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", 30, "…/x86_64-linux-gnu/libc.so.6" },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", 12, "…/libc.so.6" },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", 10, "libc.so.6" },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", 8, "libc.so…" },
		{ "/home/me/bin/app (deleted)", 18, "…/app (deleted)" }, { "/home/me/shop/cart.cc:123", 16, "…/cart.cc:123" },
		{ "cart_with_a_long_name.cc:123", 16, "cart_with_a…:123" }, { "[kernel.kallsyms]", 8, "[kernel…" },
		{ "/a_single_long_name", 10, "/a_single…" }, { "/////////////", 8, "///////…" },
	};

	check(FIT_PATH, rows, COUNT(rows));
}

/* Of any length, with any brackets: never longer than asked for, and soon done. */
TEST(hostile_names)
{
	static const char *const pieces[] = { "<", "a<b>", "ab<cd>::", "(x)", "::", "operator<", "\xcc\x81", "/", "…" };
	static char text[9000];
	char buf[FIT_MAX];

	for (size_t i = 0; i < COUNT(pieces); i++)
		for (size_t len = strlen(pieces[i]); len < sizeof(text) - 16; len += 977) {
			*text = '\0';
			for (size_t at = 0; at + strlen(pieces[i]) <= len; at += strlen(pieces[i]))
				strcpy(text + at, pieces[i]);
			for (int how = FIT_END; how <= FIT_PATH; how++)
				for (size_t columns = 1; columns < 100; columns += 9)
					assert_true(columns_of(fit_text(how, text, columns, buf)) <= columns);
		}
}
