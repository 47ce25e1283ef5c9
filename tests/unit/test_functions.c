/* SPDX-License-Identifier: Apache-2.0 */
/* What expressions of analyses may call: text in, text out. */
#include "checks.h"

#include "engine/exitnames.h"
#include "engine/functions.h"

#include <errno.h>

static const struct expr_field fields[] = {
	{ "n", EXPR_FIELD_SINT, 0, false, 0, 8 },
	{ "u", EXPR_FIELD_UINT, 0, false, 8, 8 },
	{ "s", EXPR_FIELD_CHARS, 0, false, 16, 8 },
};
static const struct expr_schema schema = { fields, 3, analysis_functions, FUNCTIONS };

struct data {
	int64_t n;
	uint64_t u;
	char s[8];
};

/* The text that comes out, in a room of that size; NULL: trouble, which is put there. */
static const char *evaluate(const char *text, size_t room, int *trouble)
{
	static char out[FUNCTION_TEXT + 1];
	static char made[FUNCTION_TEXT];
	const struct data data = { -5, UINT64_MAX, "eightchr" };   /* not terminated */
	struct stream_event event = { 0 };
	const struct analysis_sample sample = { .event = &event };
	struct function_ctx ctx = { .s = &sample };
	struct expr_run run = { .area[0] = { &data, sizeof(data) }, .ctx = &ctx, .text = made, .text_size = room };
	struct expr_error err;
	struct expr_value v;
	struct expr *e;

	assert_int_equal(expr_new(&e, text, &schema, &err), 0);
	*trouble = expr_eval(e, &run, &v);
	if (!*trouble) {
		assert_int_equal(v.type, EXPR_TEXT);
		snprintf(out, sizeof(out), "%.*s", (int)v.len, v.text);
	}
	expr_free(e);
	return *trouble ? NULL : out;
}

static void assert_text(const char *expr, const char *expected)
{
	int trouble;

	assert_string_equal(evaluate(expr, FUNCTION_TEXT, &trouble), expected);
}

TEST(printf_prints)
{
	assert_text("printf(\"\")", "");
	assert_text("printf(\"plain\")", "plain");
	assert_text("printf(\"100%%\")", "100%");
	assert_text("printf(\"%d %i %u\",n,n,u)", "-5 -5 18446744073709551615");
	assert_text("printf(\"%ld|%lld|%hhd|%zd|%jd|%td\",n,n,n,n,n,n)", "-5|-5|-5|-5|-5|-5");
	assert_text("printf(\"%x %X %#x %o\",255,255,255,8)", "ff FF 0xff 10");
	assert_text("printf(\"%p\",255)", "0xff");
	assert_text("printf(\"[%5d|%-5d|%05d|%+d|%.3d]\",7,7,7,7,7)", "[    7|7    |00007|+7|007]");
	assert_text("printf(\"%c%c\",72,105)", "Hi");
	assert_text("printf(\"%s\",s)", "eightchr");
	assert_text("printf(\"[%.3s|%10s|%-10s|%.20s|%.s]\",s,s,s,s,s)", "[eig|  eightchr|eightchr  |eightchr|]");
	assert_text("printf(\"%s\",n<0?\"LOW\":\"HIGH\")", "LOW");
	assert_text("printf(\"%s-%s\",printf(\"%d\",1),printf(\"%d\",2))", "1-2");
}

TEST(printf_has_bounds)
{
	int trouble;

	assert_null(evaluate("printf(\"%999d\",n)", FUNCTION_TEXT, &trouble));
	assert_int_equal(trouble, EXPR_ROOM);
	assert_string_equal(evaluate("printf(\"123\")", 4, &trouble), "123");
	assert_null(evaluate("printf(\"1234\")", 4, &trouble));
	assert_null(evaluate("printf(\"%s\",s)", 8, &trouble));
	assert_null(evaluate("printf(\"%s%s\",printf(\"abc\"),\"d\")", 6, &trouble));
}

/* Where the caret is. */
static void assert_refused(const char *text, const char *where, const char *expected)
{
	struct expr_error err = { 0 };
	struct expr *e = NULL;

	assert_int_equal(expr_new(&e, text, &schema, &err), -EINVAL);
	assert_string_equal(text + err.at, where);
	assert_non_null(strstr(err.expected, expected));
}

TEST(printf_is_checked)
{
	assert_refused("printf(n)", "n)", "quotes");
	assert_refused("printf(\"%d\")", ")", "an argument for each");
	assert_refused("printf(\"%d\",s)", "s)", "a number");
	assert_refused("printf(\"%s\",n)", "n)", "text for %s");
	assert_refused("printf(\"x\",n)", "n)", "no more arguments");
	assert_refused("printf(\"%d\",n,u)", "u)", "no more arguments");
	assert_refused("printf(\"%n\",n)", "\"%n\",n)", "conversions of");
	assert_refused("printf(\"%f\",n)", "\"%f\",n)", "conversions of");
	assert_refused("printf(\"%*d\",n,n)", "\"%*d\",n,n)", "conversions of");
	assert_refused("printf(\"%\")", "\"%\")", "conversions of");
	assert_refused("printf(\"%ll\")", "\"%ll\")", "conversions of");
	assert_refused("printf(\"%000000009d\",n)", "\"%000000009d\",n)", "conversions of");
	assert_refused("syscall_name(s)", "s)", "a number");
	assert_refused("ksymbols(n)", "ksymbols(n)", "ksymbol()");
}

TEST(names)
{
	struct {
		uint64_t code;
		const char *name;
	} rows[] = { { 12, "HLT" }, { 0x80000000u + 33, "INVALID_STATE" }, { 0x78, "hlt" }, { 0x400, "npf" } };
	int known = 0;
	char buf[64];

	assert_text("syscall_name(999)", "syscall(999)");
	assert_text("syscall_name(n)", "syscall(-5)");
	assert_text("exit_reason_str(64999)", "reason 64999");
	for (size_t i = 0; i < 4; i++)
		known += !strcmp(exit_reason_name(rows[i].code, buf, sizeof(buf)), rows[i].name);
#ifdef __x86_64__
	assert_int_equal(known, 2);   /* those of VMX or those of SVM */
#endif
}

TEST(kernel_functions_are_seen)
{
	assert_true(functions_need_kernel("printf(\"%s\",ksymbol(n))"));
	assert_false(functions_need_kernel("n+1"));
}
