/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: what they mean on given bytes, and where they are wrong. */
#include "checks.h"

#include "expr/expr.h"

#include <errno.h>
#include <inttypes.h>

/* An event with a field of each kind. */
static const struct event {
	uint8_t u8;
	int8_t s8;
	uint16_t u16;
	int16_t s16;
	uint32_t u32;
	int32_t s32;
	uint64_t u64;
	int64_t s64;
	char comm[16];
	char full[4];                 /* without a NUL */
	uint32_t dyn, rel, empty, bad_at, bad_len, bad_rel;
	const char *pointer;
	uint8_t array[6];
	char strings[10];
} event = {
	.u8 = 200, .s8 = -100, .u16 = 60000, .s16 = -30000, .u32 = 4000000000, .s32 = -2000000000,
	.u64 = 18000000000000000000ULL, .s64 = -9000000000000000000LL,
	/* as the kernel leaves it: what a longer name left behind stands behind the NUL */
	.comm = "java\0worker/0:1", .full = "abcd",
	.dyn = offsetof(struct event, strings) | 6 << 16,
	.rel = (offsetof(struct event, strings) + 6 - offsetof(struct event, rel) - 4) | 4 << 16,
	.empty = offsetof(struct event, strings),
	.bad_at = 60000 | 4 << 16,
	.bad_len = offsetof(struct event, strings) | 60000u << 16,
	.bad_rel = 0xffff | 1 << 16,
	.strings = "/tmp\0\0xyz",
};

#define FIELD(name_, kind_) { .name = #name_, .kind = EXPR_FIELD_ ## kind_,                        \
	.offset = offsetof(struct event, name_), .size = sizeof(event.name_) }

static const struct expr_field fields[] = {
	FIELD(u8, UINT), FIELD(s8, SINT), FIELD(u16, UINT), FIELD(s16, SINT), FIELD(u32, UINT),
	FIELD(s32, SINT), FIELD(u64, UINT), FIELD(s64, SINT), FIELD(comm, CHARS), FIELD(full, CHARS),
	FIELD(dyn, DATA_LOC), FIELD(rel, REL_LOC), FIELD(empty, DATA_LOC), FIELD(bad_at, DATA_LOC),
	FIELD(bad_len, DATA_LOC), FIELD(bad_rel, REL_LOC), FIELD(pointer, POINTER),
	FIELD(array, BYTES),
	{ "beyond", EXPR_FIELD_UINT, 0, false, sizeof(event) - 4, 8 }, { "zero", EXPR_FIELD_UINT, 1, false, 0, 4 },
	{ "_cpu", EXPR_FIELD_UINT, 1, false, 4, 4 }, { "nowhere", EXPR_FIELD_UINT, 2, false, 0, 4 },
	{ "COMM", EXPR_FIELD_CALLED, 0, true, .offset = 99 },
};

static int call_twice(struct expr_run *run, const struct expr_value *args, size_t nargs, struct expr_value *result)
{
	size_t len = args[0].len;

	if (run->text_size - run->text_used < 2 * len)
		return EXPR_ROOM;
	result->text = run->text + run->text_used;
	result->len = (uint32_t)(2 * len);
	for (size_t i = 0; i < 2; i++, run->text_used += len)
		memcpy(run->text + run->text_used, args[0].text, len);
	return EXPR_FINE;
}

static int call_count(struct expr_run *run, const struct expr_value *args, size_t nargs, struct expr_value *result)
{
	result->u = nargs;
	return EXPR_FINE;
}

static int call_fail(struct expr_run *run, const struct expr_value *args, size_t nargs, struct expr_value *result)
{
	return EXPR_FAILED;
}

static const char *check_count(const struct expr_value *args, const bool *is_const, size_t nargs, size_t *bad)
{
	*bad = 1;
	return nargs > 1 && is_const[1] && args[1].type == EXPR_S64 && args[1].s == 13 ? "any other number" : NULL;
}

static const struct expr_func funcs[] = {
	{ "twice", "s", EXPR_TEXT, NULL, call_twice }, { "count", "c*", EXPR_U64, check_count, call_count },
	{ "fail", "", EXPR_S64, NULL, call_fail },
};

static const struct expr_schema schema = { fields, COUNT(fields), funcs, COUNT(funcs) };

static int evaluate(const struct expr *e, struct expr_value *value, char *room, size_t size)
{
	static const uint32_t other[] = { 0, 3 };
	struct expr_run run = {
		.area = { { &event, sizeof(event) }, { other, sizeof(other) } },
		.text = room, .text_size = size,
	};

	return expr_eval(e, &run, value);
}

static const struct {
	const char *text;
	int64_t means;
} numbers[] = {
	/* constants */
	{ "0", 0 }, { "10", 10 }, { "0x1F", 31 }, { "010", 8 }, { "-5", -5 }, { "- 5", -5 },
	{ "--5", 5 }, { "9223372036854775807", INT64_MAX }, { "-9223372036854775808", INT64_MIN },
	{ "5u", 5 }, { "0xffUL", 255 }, { "7ull", 7 }, { " 1 ", 1 }, { "(((1)))", 1 },
	/* fields of all widths keep their value */
	{ "u8", 200 }, { "s8", -100 }, { "u16", 60000 }, { "s16", -30000 }, { "u32", 4000000000 }, { "s32", -2000000000 },
	{ "u64 == 18000000000000000000", 1 }, { "s64", -9000000000000000000 }, { "_cpu", 3 }, { "pointer", 0 },
	/* C's precedence */
	{ "1+2*3", 7 }, { "(1+2)*3", 9 }, { "10-4-3", 3 }, { "100/10/5", 2 }, { "7%4", 3 }, { "1<<2+1", 8 }, { "1|2^3&2", 1 },
	{ "6&3", 2 }, { "1||0&&0", 1 }, { "(1||0)&&0", 0 }, { "2+3 == 5", 1 }, { "1 < 2 && 3 < 2", 0 }, { "~0", -1 },
	{ "~5&0xf", 10 }, { "-2*-3", 6 }, { "3 - -3", 6 }, { "(_cpu<<16)|u8", 3 << 16 | 200 }, { "1?2:3", 2 }, { "0?2:3", 3 },
	{ "0?1:0?2:3", 3 }, { "1?0?4:5:6", 5 }, { "1?2:3+4", 2 }, { "2>1?10:20", 10 }, { "_cpu==3?u8/100:1/zero", 2 },
	/* `!` negates all up to && and || */
	{ "!0", 1 }, { "!5", 0 }, { "!!5", 1 }, { "!_cpu==3", 0 }, { "!_cpu==4", 1 },
	{ "!_cpu==4 && 1", 1 }, { "!0 || 1/zero", 1 }, { "!6&1", 1 }, { "(!6)&1", 0 },
	{ "!comm==\"x\"", 1 }, { "3==!0+0", 0 }, { "-!0", -1 }, { "!1?2:3", 3 },
	/* conditions are 0 or 1, and stop as soon as they can */
	{ "5&&7", 1 }, { "5||7", 1 }, { "0||7", 1 }, { "0&&1/zero", 0 }, { "1||1/zero", 1 },
	{ "zero && u8/zero>1", 0 }, { "zero!=0 && u8/zero>1 || 1", 1 },
	/* unsigned if either side is 64 bits unsigned */
	{ "u64 > 0", 1 }, { "u64/2 > 0", 1 }, { "u64 > -1", 0 }, { "u32 > -1", 1 }, { "u8 > -1", 1 }, { "-1 > 0u", 1 },
	{ "-1 > 0", 0 }, { "s64 < 0", 1 }, { "s64 > 0u", 1 }, { "u64>>63", 1 }, { "s64>>63", -1 }, { "-1>>1", -1 },
	{ "-1u>>63", 1 }, { "-7/2", -3 }, { "-7%2", -1 }, { "u64/1000000000000000000", 18 }, { "s32/1000000000", -2 },
	{ "(1?-1:0u)>>63", 1 }, { "u32*u32 == 16000000000000000000u", 1 },
	/* overflow wraps, shifts never end in the dark */
	{ "9223372036854775807+1", INT64_MIN }, { "-9223372036854775808-1", INT64_MAX },
	{ "-9223372036854775808/-1", INT64_MIN }, { "-9223372036854775808%-1", 0 }, { "-(-9223372036854775808)", INT64_MIN },
	{ "1<<64", 0 }, { "1<<-1", 0 }, { "1<<63", INT64_MIN }, { "u8>>64", 0 }, { "s8>>200", -1 }, { "s8>>-1", -1 },
	/* a constant beside a field means the field's bits at == and != only */
	{ "s8 == 156", 1 }, { "s8 == -100", 1 }, { "s8 != 156", 0 }, { "156 == s8", 1 }, { "s8 == 412", 0 }, { "u8 == -56", 1 },
	{ "u8 == 456", 0 }, { "s16 == 35536", 1 }, { "s32 == 2294967296", 1 }, { "s32 == 0x88ca6c00", 1 },
	{ "u32 == -294967296", 1 }, { "s64 == 9446744073709551616", 1 }, { "u64 == -446744073709551616", 1 }, { "s8 < 156", 1 },
	{ "s8 > 156", 0 }, { "u8 > -56", 1 }, { "(s8) == 156", 1 }, { "s8+0 == 156", 0 }, { "s8 == -356", 0 },
	{ "s32 == 4294967296+2294967296", 0 }, { "s8 & 0x80", 0x80 }, { "s8 & 0x63", 0 }, { "u8 & 8", 8 }, { "u64 & 1", 0 },
	/* text */
	{ "comm==\"java\"", 1 }, { "comm=='java'", 1 }, { "comm!=\"java\"", 0 }, { "\"java\"==comm", 1 },
	{ "comm==\"jav\"", 0 }, { "comm==\"java2\"", 0 }, { "comm==\"\"", 0 }, { "full==\"abcd\"", 1 },
	{ "full==\"abcde\"", 0 }, { "full==\"abc\"", 0 }, { "dyn==\"/tmp\"", 1 }, { "rel==\"xyz\"", 1 }, { "empty==\"\"", 1 },
	{ "dyn!=rel", 1 }, { "dyn==dyn", 1 }, { "\"a\"==\"a\"", 1 }, { "\"a\\\"b\"=='a\"b'", 1 }, { "\"a\\n\"==\"a\\\\n\"", 0 },
	{ "(_cpu==3?comm:dyn)==\"java\"", 1 }, { "(_cpu==4?comm:dyn)==\"/tmp\"", 1 }, { "comm~\"j*\"", 1 },
	{ "comm~\"*a\"", 1 }, { "comm~\"*av*\"", 1 }, { "comm~\"*worker*\"", 0 }, { "comm~\"java\"", 1 }, { "comm~\"jav\"", 0 },
	{ "comm~\"!j*\"", 0 }, { "full~\"*d\"", 1 }, { "dyn~\"/t?p\"", 1 }, { "!comm~\"x*\" && u8", 1 },
	/* functions */
	{ "ntohl(1)", 0x01000000 }, { "ntohs(0x1234)", 0x3412 }, { "ntohl(ntohl(s32))", 2294967296 },
	{ "strncmp(comm,\"jack\",2)", 0 }, { "strncmp(comm,\"jack\",3) > 0", 1 }, { "strncmp(comm,\"java\",100)", 0 },
	{ "strncmp(comm,\"javb\",100) < 0", 1 }, { "strncmp(comm,\"java8\",100) < 0", 1 }, { "strncmp(full,\"abcd\",4)", 0 },
	{ "twice(\"ab\")==\"abab\"", 1 }, { "twice(twice(comm))~\"javajavajavajava\"", 1 }, { "count(\"a\")", 1 },
	{ "count(\"a\",1,comm,u64) + count(\"b\",2)", 6 },
};

static struct expr *compiled(const char *text)
{
	struct expr_error err = { 0 };
	struct expr *e = NULL;
	int rc = expr_new(&e, text, &schema, &err);

	if (rc)
		fail_msg("%s: %d, at %zu: %s; expected %s", text, rc, err.at, err.message, err.expected);
	return e;
}

TEST(expressions_have_their_values)
{
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct expr *e = compiled(numbers[i].text);
		struct expr_value value;
		char room[64];
		int trouble = evaluate(e, &value, room, sizeof(room));

		if (trouble)
			fail_msg("%s: %s", numbers[i].text, expr_trouble_text(trouble));
		if (expr_type(e) == EXPR_TEXT || value.s != numbers[i].means)
			fail_msg("%s: %" PRId64 ", not %" PRId64, numbers[i].text, value.s, numbers[i].means);
		assert_int_equal(value.type, expr_type(e));
		expr_free(e);
	}
}

static const struct {
	const char *text;
	enum expr_type type;
} types[] = {
	{ "1", EXPR_S64 }, { "1u", EXPR_U64 }, { "u32", EXPR_S64 }, { "u64", EXPR_U64 }, { "pointer", EXPR_U64 },
	{ "s64", EXPR_S64 }, { "u64+1", EXPR_U64 }, { "1+u64", EXPR_U64 }, { "1<<u64", EXPR_S64 }, { "u64<<1", EXPR_U64 },
	{ "u64==1", EXPR_S64 }, { "!u64", EXPR_S64 }, { "u64&&1", EXPR_S64 }, { "1?u64:1", EXPR_U64 }, { "1?1:u64", EXPR_U64 },
	{ "-u64", EXPR_U64 }, { "comm", EXPR_TEXT }, { "\"x\"", EXPR_TEXT }, { "1?comm:\"x\"", EXPR_TEXT },
	{ "count(\"\")", EXPR_U64 }, { "9223372036854775808", EXPR_U64 }, { "-9223372036854775808", EXPR_S64 },
};

TEST(an_expression_knows_its_type)
{
	struct expr_value value;
	struct expr *e;

	for (size_t i = 0; i < COUNT(types); i++) {
		e = compiled(types[i].text);
		if (expr_type(e) != types[i].type)
			fail_msg("%s: type %d", types[i].text, expr_type(e));
		expr_free(e);
	}
	e = compiled("_cpu<10?\"HIGH\":\"LOW\"");
	assert_int_equal(evaluate(e, &value, NULL, 0), 0);
	ARE(NUMBERS(value.type, value.len), NUMBERS(EXPR_TEXT, 4));
	assert_memory_equal(value.text, "HIGH", 4);
	expr_free(e);
}

static const struct {
	const char *text;
	int trouble;
} troubles[] = {
	{ "1/zero", EXPR_DIVISION }, { "1%zero", EXPR_DIVISION }, { "u64/zero", EXPR_DIVISION }, { "u64%zero", EXPR_DIVISION },
	{ "1/(u8-200)", EXPR_DIVISION }, { "beyond", EXPR_DATA }, { "nowhere==1", EXPR_DATA }, { "bad_at==\"\"", EXPR_DATA },
	{ "bad_len~\"*\"", EXPR_DATA }, { "bad_rel==\"\"", EXPR_DATA }, { "fail()", EXPR_FAILED }, { "1+fail()", EXPR_FAILED },
	{ "twice(twice(twice(comm)))==\"\"", EXPR_ROOM },
};

TEST(what_has_no_value_says_why)
{
	for (size_t i = 0; i < COUNT(troubles); i++) {
		struct expr *e = compiled(troubles[i].text);
		struct expr_value value;
		char room[40];
		int trouble = evaluate(e, &value, room, sizeof(room));

		if (trouble != troubles[i].trouble)
			fail_msg("%s: %s", troubles[i].text, expr_trouble_text(trouble));
		assert_true(strlen(expr_trouble_text(trouble)) > 5);
		expr_free(e);
	}
}

static const struct {
	const char *text;
	size_t at;
	const char *message, *expected;
} bad[] = {
	/* lexer */
	{ "", 0, "empty", "pid > 1000" }, { "  ", 2, "empty", "pid" }, { "u8 = 5", 3, "single \"=\"", "==" },
	{ "u8 > 1x", 6, "not a number", "operator" }, { "u8 > 08", 6, "not a number", "octal" },
	{ "u8 > 0x", 7, "no digits after 0x", "hexadecimal" }, { "u8 > 0xg", 7, "0x", "hexadecimal" },
	{ "u8 > 1.5", 6, "fraction", "integer" }, { "18446744073709551616", 0, "64 bits", "18446744073709551615" },
	{ "comm == \"x", 8, "not closed", "quote" }, { "comm == \"x\\\"", 8, "not closed", "quote" },
	{ "u8 @ 1", 3, "unexpected character", "operator" }, { "array[1]", 5, "elements", "field" },
	{ "u8 > 1; u8 < 3", 6, "not two", "&&" }, { "CPUS{1}", 4, "brace", "(" },
	{ "u8 > \xc3\xbc", 5, "unexpected character", "field" }, { "u8.x", 2, "dot", "operator" },
	/* parser */
	{ "u8 >", 4, "ends too early", "a field" }, { "u8 > )", 5, "not expected", "a field" },
	{ "(u8 > 1", 7, "ends too early", ")" }, { "u8 > 1)", 6, "unexpected \")\"", "end" },
	{ "u8 > 1, s8 < 2", 6, "comma", "&&" }, { "(u8 > 1, s8 < 2)", 7, "comma", "&&" }, { ", u8", 0, "comma", "&&" },
	{ "u8 s8", 3, "without an operator", "==" }, { "u8 5", 3, "without an operator", "==" },
	{ "u8 and s8", 3, "not an operator", "&&" }, { "u8 or s8", 3, "not an operator", "||" },
	{ "comm !~ \"x\"", 5, "before a condition", "!(" }, { "1 ? 2", 5, "ends too early", ":" },
	{ "1 : 2", 2, "unexpected \":\"", "end" }, { "&& u8", 0, "not expected", "a field" },
	{ "u8 &&", 5, "ends too early", "a field" }, { "u8 === 1", 5, "single", "==" },
	{ "u8 <> 1", 4, "not expected", "a field" }, { "u8 & 4 == 4", 7, "binds tighter", "parentheses" },
	{ "u8 == 4 & 4", 3, "binds tighter", "parentheses" }, { "u8 | s8 < 4", 8, "binds tighter", "parentheses" },
	{ "1 < u8 < 5", 7, "comparison of a comparison", "&&" }, { "u8 == u8 == 1", 9, "comparison of a comparison", "&&" },
	{ "ntohl(1", 7, "ends too early", ")" }, { "ntohl(,)", 6, "comma", "&&" },
	/* names */
	{ "s8>1 && prios < 3", 8, "no field prios", "u8, s8" }, { "s7 > 1", 0, "did you mean s8", "u8" },
	{ "array == 1", 0, "6 bytes", "number or text" }, { "COMM == \"x\"", 0, "0 bytes", "number or text" },
	{ "ntohll(1)", 0, "did you mean ntohl()", "strncmp()" }, { "nofunction(1)", 0, "no function", "twice" },
	{ "ntohl", 0, "no field ntohl", "u8" },
	/* types */
	{ "comm", SIZE_MAX, "", "" },
	{ "comm && 1", 0, "comm is text", "number" }, { "1 || \"x\"", 5, "\"x\" is text", "number" },
	{ "!comm", 1, "comm is text", "number" }, { "comm + 1", 0, "comm is text", "number" },
	{ "comm == 5", 8, "5 is a number", "text on both" }, { "u8 == \"x\"", 0, "u8 is a number", "both" },
	{ "1 + 2 == comm", 0, "1 + 2 is a number", "both" }, { "comm < \"x\"", 5, "no order", "==" },
	{ "u8 ~ \"x\"", 0, "u8 is a number", "text" }, { "comm ~ dyn", 7, "constant", "glob" },
	{ "comm ~ 5", 7, "constant", "glob" }, { "1 ? comm : 5", 11, "one of these", "two texts" },
	{ "pointer == \"x\"", 0, "address", "kernel" }, { "comm ? 1 : 2", 0, "comm is text", "number" },
	{ "u8 / 0", 5, "division by zero", "other than 0" }, { "u8 % 0", 5, "division by zero", "other than 0" },
	/* calls */
	{ "ntohl()", 6, "wrong number of arguments", "1 argument" },
	{ "ntohl(1,2)", 8, "wrong number of arguments", "1 argument" }, { "strncmp(comm,1,2)", 13, "is a number", "text" },
	{ "ntohl(comm)", 6, "comm is text", "number" },
	{ "strncmp(comm,\"x\",-1)", 17, "does not take", "number of characters" }, { "count(comm)", 6, "constant", "quotes" },
	{ "count()", 6, "wrong number", "at least 1 arg" }, { "count(\"a\",13)", 10, "does not take", "any other" },
	{ "fail(1)", 5, "wrong number", "0 arguments" }, { "count(\"\",1,1,1,1,1,1,1,1)", 23, "wrong number", "at most 8" },
};

TEST(mistakes_are_found_at_their_place)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct expr_error err = { .at = SIZE_MAX };
		struct expr *e;
		int rc = expr_new(&e, bad[i].text, &schema, &err);

		if (rc != (bad[i].at == SIZE_MAX ? 0 : -EINVAL) || !e == !rc)
			fail_msg("%s: %d", bad[i].text, rc);
		expr_free(e);
		if (!rc)
			continue;
		if (err.at != bad[i].at || !strstr(err.message, bad[i].message) || !strstr(err.expected, bad[i].expected))
			fail_msg("%s: at %zu: %s; expected %s", bad[i].text, err.at, err.message, err.expected);
		assert_int_equal(expr_new(&e, bad[i].text, &schema, NULL), -EINVAL);
	}
}

static const struct {
	const char *pattern, *text;
	bool hit;
} globs[] = {
	{ "", "", true }, { "", "a", false }, { "*", "", true }, { "**", "ab", true }, { "?", "", false }, { "?", "a", true },
	{ "a*", "abc", true }, { "*c", "abc", true }, { "*b*", "abc", true }, { "*b", "abc", false },
	{ "a*c*e", "abcde", true }, { "a*c*f", "abcde", false }, { "*ab", "aab", true }, { "*aab*", "aaab", true },
	{ "[abc]", "b", true }, { "[abc]", "d", false }, { "[a-c]x", "bx", true }, { "[!a-c]", "b", false },
	{ "[!a-c]", "d", true }, { "[^a]", "a", true }, { "[^a]", "^", true }, { "[]]", "]", true }, { "[!]]", "a", true },
	{ "[a-]", "-", true }, { "[]-a]", "^", true }, { "[", "[", true }, { "a[b", "a[b", true }, { "[a", "a", false },
	{ "\\*", "*", true }, { "\\*", "a", false }, { "a\\?", "a?", true }, { "*\\?", "b?", true }, { "!a*", "abc", false },
	{ "!a*", "bc", true }, { "!", "", false }, { "!!", "!", false }, { "5*", "5x", true }, { "a\\", "a\\", true },
	{ "[a-z]*[0-9]", "kworker/0", true }, { "*[!0-9]", "x5", false },
};

TEST(globs_are_the_kernels)
{
	for (size_t i = 0; i < COUNT(globs); i++)
		if (expr_glob(globs[i].pattern, strlen(globs[i].pattern), globs[i].text, strlen(globs[i].text)) != globs[i].hit)
			fail_msg("\"%s\" ~ \"%s\"", globs[i].text, globs[i].pattern);
}

/* What a hostile pattern costs is the product of the lengths, not a power of them. */
TEST(a_glob_of_many_stars_ends)
{
	char pattern[2001], text[4000];

	for (size_t i = 0; i < 2000; i += 2)
		memcpy(pattern + i, "*a", 2);
	memset(text, 'a', sizeof(text));
	pattern[2000] = 'b';
	assert_false(expr_glob(pattern, 2001, text, sizeof(text)));
}

/* unit * n, with something before and behind. */
static char *repeated(const char *before, const char *unit, size_t n, const char *behind)
{
	size_t len = strlen(unit);
	char *text = malloc(strlen(before) + n * len + strlen(behind) + 1), *w = text;

	assert_non_null(text);
	w = stpcpy(w, before);
	for (size_t i = 0; i < n; i++)
		w = stpcpy(w, unit);
	strcpy(w, behind);
	return text;
}

static void expect_too_deep(char *text)
{
	struct expr_error err;
	struct expr *e;

	assert_int_equal(expr_new(&e, text, &schema, &err), -EINVAL);
	assert_non_null(strstr(err.message, "too deeply"));
	free(text);
}

TEST(depth_is_bounded)
{
	struct expr_value value;
	char *text = repeated("u8==200", "||s8==1", 900, "");
	struct expr *e = compiled(text);

	assert_int_equal(evaluate(e, &value, NULL, 0), 0);
	assert_int_equal(value.s, 1);
	expr_free(e);
	free(text);
	expect_too_deep(repeated("1", "||1", 100000, ""));
	expect_too_deep(repeated("", "(", 100000, ""));
	expect_too_deep(repeated("", "!", 100000, "1"));
	expect_too_deep(repeated("", "-", 100000, "1"));
	expect_too_deep(repeated("", "1?", 100000, "1"));
	expect_too_deep(repeated("", "count(\"\",1,1,1,1,", 20, "1))))))))))))))))))))"));
}

TEST(a_shorter_event_is_seen_to_be_short)
{
	static const char *const texts[] = { "u8", "u64", "s32", "comm==\"\"", "dyn~\"*\"", "rel==\"\"" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct expr *e = compiled(texts[i]);
		struct expr_run run = { .area = { { &event, 0 } } };
		struct expr_value value;

		assert_int_equal(expr_eval(e, &run, &value), EXPR_DATA);
		/* exact sizes, so that a sanitizer sees a byte too much */
		for (uint32_t size = 0; size < sizeof(event); size += 3) {
			run.area[0].bytes = memcpy(malloc(size ? size : 1), &event, size);
			run.area[0].size = size;
			expr_eval(e, &run, &value);
			free((void *)run.area[0].bytes);
		}
		expr_free(e);
	}
}

/* ---- the manual --------------------------------------------------------------------- */

/* The event of docs/expressions.md. */
static const struct wakeup {
	int32_t pid, prio, target_cpu, flags, cpu, process;
	char comm[16];
} wakeup = { 1234, 120, 3, 0x86, 3, 77, "java" };

#define WAKEUP(name_, member, kind_) { .name = name_, .kind = EXPR_FIELD_ ## kind_,                \
	.offset = offsetof(struct wakeup, member), .size = sizeof(wakeup.member) }

static const struct expr_field wakeup_fields[] = {
	WAKEUP("pid", pid, SINT), WAKEUP("prio", prio, SINT), WAKEUP("target_cpu", target_cpu, SINT),
	WAKEUP("flags", flags, SINT), WAKEUP("_cpu", cpu, SINT), WAKEUP("_pid", process, SINT),
	WAKEUP("comm", comm, CHARS),
};

static void check_example(char *text, int64_t means)
{
	static const struct expr_schema fields_of = { wakeup_fields, COUNT(wakeup_fields), NULL, 0 };
	struct expr_run run = { .area = { { &wakeup, sizeof(wakeup) } } };
	struct expr_error err = { 0 };
	struct expr_value value;
	struct expr *e;
	char *bar;

	while ((bar = strstr(text, "\\|")))   /* how Markdown writes | in a table */
		memmove(bar, bar + 1, strlen(bar));
	if (expr_new(&e, text, &fields_of, &err))
		fail_msg("%s: at %zu: %s", text, err.at, err.message);
	assert_int_equal(expr_eval(e, &run, &value), 0);
	if (value.s != means)
		fail_msg("%s is %" PRId64 ", not %" PRId64, text, value.s, means);
	expr_free(e);
}

/* `EXPRESSION` is `VALUE`, and the same in two columns of a table. */
static size_t check_examples(char *page)
{
	static const char *const between[] = { "` is `", "` | `" };
	size_t n = 0;

	for (size_t i = 0; i < COUNT(between); i++)
		for (char *at = page; (at = strstr(at, between[i])); at++) {
			char *value = at + strlen(between[i]), *end, *start = at, text[256];
			long long means = strtoll(value, &end, 10);

			while (start > page && start[-1] != '`' && start[-1] != '\n')
				start--;
			if (end == value || *end != '`')
				continue;
			snprintf(text, sizeof(text), "%.*s", (int)(at - start), start);
			check_example(text, means);
			n++;
		}
	return n;
}

TEST(the_examples_of_the_manual_have_their_values)
{
	const char *root = getenv("SOURCE_ROOT");
	char path[4096], page[32768];
	size_t n;
	FILE *file;

	if (!root)
		skip();
	snprintf(path, sizeof(path), "%s/docs/expressions.md", root);
	file = fopen(path, "r");
	assert_non_null(file);
	n = fread(page, 1, sizeof(page) - 1, file);
	fclose(file);
	page[n] = '\0';
	assert_in_range(check_examples(page), 25, 100);
}
