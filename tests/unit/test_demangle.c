/* SPDX-License-Identifier: Apache-2.0 */
/* Names as they are in the source; and those that are made to take all memory or time. */
#include "checks.h"

#include "symbols/elf/demangle.h"
#include "symbols/parser_kinds.h"

#include <errno.h>
#include <time.h>

static const struct {
	const char *mangled, *name;
} rows[] = {
	{ "_Z3addii", "add" }, { "_ZN2ns1AIiE3runEiRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "ns::A<int>::run" },
	{ "_ZN2ns5twiceIlEET_S1_", "ns::twice<long>" }, { "_ZN5outer5innerC2Ev", "outer::inner::inner" },
	{ "_ZN5outer5innerD0Ev", "outer::inner::~inner" }, { "_ZNK3MapIiE4findERKi.cold", "Map<int>::find" },
	{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()" },
	{ "_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden" },
	{ "_ZN5outer5inner3runEv@plt", "outer::inner::run@plt" },
	/* Rust: its first scheme, with a hash, and v0 */
	{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
	{ "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
	  "<alloc::string::String as core::fmt::Display>::fmt" },
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" }, { "_RNvNtCs1234_7mycrate6module3bar", "mycrate::module::bar" },
	{ "_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>" },
	{ "_RNvC7mycrateu8gdel_5qa", "mycrate::g\xc3\xb6" "del" },
};

TEST(names)
{
	char buf[DEMANGLE_MAX];

	if (demangle("_Z3addii", buf)) {
		print_message("# skip: built without libiberty\n");
		skip();
	}
	for (unsigned int i = 0; i < COUNT(rows); i++) {
		assert_int_equal(demangle(rows[i].mangled, buf), 0);
		assert_string_equal(buf, rows[i].name);
	}
}

TEST(ocaml)
{
	static const struct {
		const char *mangled, *name;      /* NULL: not OCaml's */
	} all[] = {
		{ "camlM__sum_81", "M.sum_81" }, { "camlM.sum_81", "M.sum_81" }, { "camlM$sum_81", "M.sum_81" },
		{ "camlM__$2b$2b$2b_84", "M.+++_84" }, { "camlM.$2b$2b_84", "M.++_84" }, { "camlM$$2b$2b_84", "M.++_84" },
		{ "camlStdlib__List__map_5", "Stdlib.List.map_5" }, { "camlM$add_5", "M.add_5" }, { "camlM$cafe_5", "M.cafe_5" },
		{ "camlM$$c3$a9t$c3$a9_5", "M.\303\251t\303\251_5" }, { "camlM$", "M." }, { "camlM$2", "M.2" },
		{ "caml_alloc", NULL }, { "caml", NULL }, { "camlp4", NULL }, { "main", NULL },
	};
	char buf[DEMANGLE_MAX], long_one[DEMANGLE_MAX + 8];

	for (size_t i = 0; i < COUNT(all); i++) {
		assert_int_equal(is_mangled(all[i].mangled), all[i].name != NULL);
		assert_int_equal(demangle_ocaml(all[i].mangled, buf), all[i].name ? 0 : -EINVAL);
		if (all[i].name)
			assert_string_equal(buf, all[i].name);
	}
	memset(long_one, 'A', sizeof(long_one));
	memcpy(long_one, "caml", 4);
	long_one[sizeof(long_one) - 1] = '\0';
	assert_int_equal(demangle_ocaml(long_one, buf), -E2BIG);
}

TEST(what_is_none)
{
	static const char *const none[] = { "", "_", "_Z", "_R", "main", "_Z1", "_RR", "__Z3addii", "Z3addii", "main@plt", "_Z@plt",
					    "_ZN", "_ZN3", "_ZN99999999999999999999foo", "_R0", "_RNv" };
	char buf[DEMANGLE_MAX];

	for (unsigned int i = 0; i < COUNT(none); i++)
		assert_int_equal(demangle(none[i], buf), -EINVAL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Each argument is twice the one before. */
TEST(bombs)
{
	char name[1024], buf[DEMANGLE_MAX], *p = name, *deep;
	double start = now();

	p += sprintf(p, "_ZN1aISt4pairIiiE");
	for (int i = 0; i < 25; i++)
		p += sprintf(p, "S_IS%c_S%c_E", i < 10 ? '0' + i : 'A' + i - 10, i < 10 ? '0' + i : 'A' + i - 10);
	sprintf(p, "E1bEv");
	demangle(name, buf);
	p = name + sprintf(name, "_RNvMC0");
	for (int i = 0; i < 60; i++)
		p += sprintf(p, "TB%c_B%c_", '0' + i % 10, '0' + i % 10);
	sprintf(p, "E1b");
	demangle(name, buf);
	/* lifetimes to be counted where nothing is written: 2^60 of them; 62 are a function's right */
	assert_int_equal(demangle("_RNvXFGzzzzzzzzzz_EuC1a1b", buf), -E2BIG);
	demangle("_RNvXFGz_EuC1a1b", buf);
	deep = malloc(100001);
	for (int kind = 0; kind < 2; kind++) {
		memset(deep, kind ? 'R' : 'P', 100000);
		memcpy(deep, kind ? "_RY" : "_Z1a", 3 + !kind);
		for (int n = 100; n <= 100000; n *= 10) {
			deep[n] = '\0';
			demangle(deep, buf);
			deep[n] = kind ? 'R' : 'P';
		}
	}
	free(deep);
	assert_true(now() - start < 5);
}

/* Memory that libiberty holds while it passes on a piece is freed: the sanitizers see it. */
TEST(too_long_in_punycode)
{
	enum { LONG = 8000 };
	char name[LONG + 64], buf[DEMANGLE_MAX];
	int n;

	assert_int_equal(demangle("_RINvNtC2stu3mem7ooooooooYC0YB_eooooooooo", buf), -E2BIG);
	/* as the last piece, which no other follows */
	n = sprintf(name, "_RNvC7mycrateu%d_", LONG);
	memset(name + n, 'a', LONG);
	memcpy(name + n + LONG - 4, "_5qa", 5);
	assert_int_equal(demangle(name, buf), -E2BIG);
}

/* Once per name, by whatever parser; and the next question is not the same memory's. */
TEST(kept)
{
	char buf[DEMANGLE_MAX];

	for (int place = PARSER_HERE; place <= PARSER_APART && !demangle("_Z3addii", buf); place++) {
		struct parser *p = parser_new_all(&(struct parser_opts){ (enum parser_place)place });
		struct demangled *d = NULL;
		static const char wrong[] = "_Z1";

		assert_string_equal(demangled_name(&d, p, "plain"), "plain");
		assert_null(d);
		for (int round = 0; round < 3; round++)
			for (unsigned int i = 0; i < COUNT(rows); i++)
				assert_string_equal(demangled_name(&d, p, rows[i].mangled), rows[i].name);
		assert_ptr_equal(demangled_name(&d, p, wrong), wrong);
		assert_ptr_equal(demangled_name(&d, p, wrong), wrong);
		assert_true(demangled_bytes(d) > 0);
		demangled_free(d);
		parser_free(p);
	}
	demangled_free(NULL);
	assert_int_equal(demangled_bytes(NULL), 0);
}

/* More text than is kept: what was dropped is made again. */
TEST(bounded)
{
	enum { N = 20000, LEN = 600 };
	struct parser *p = parser_new_all(&(struct parser_opts){ PARSER_HERE });
	char buf[DEMANGLE_MAX], (*many)[LEN + 32] = calloc(N, sizeof(*many));
	struct demangled *d = NULL;

	for (int i = 0; i < N && !demangle("_Z3addii", buf); i++) {
		int n = sprintf(many[i], "_Z%d", LEN);

		memset(many[i] + n, 'a', LEN);
		many[i][n] = (char)('a' + i % 26);
		sprintf(many[i] + n + LEN, "v");
		assert_int_equal(strlen(demangled_name(&d, p, many[i])), LEN);
		assert_int_equal(demangled_name(&d, p, many[i])[0], 'a' + i % 26);
		assert_true(demangled_bytes(d) < 10 << 20);
	}
	demangled_free(d);
	parser_free(p);
	free(many);
}
