/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: widths, units, order; hostile text; the one shape of JSON. */
#include "cmocka_all.h"

#include "base/columns.h"

#include "base/columns.h"
#include "report/table.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <unistd.h>

static const struct table_column columns[] = {
	{ "thread", TABLE_TEXT },
	{ "calls", TABLE_INTEGER },
	{ "total", TABLE_DURATION },
	{ "p50", TABLE_DURATION },
	{ "share", TABLE_PERCENT, .title = "%total" },
	{ "ip", TABLE_HEX, .where = TABLE_ONLY_JSON },
};

static void add(struct table *t, const char *thread, uint64_t calls, uint64_t total)
{
	table_row(t);
	table_text(t, thread);
	table_unsigned(t, calls);
	table_unsigned(t, total);
	if (calls)
		table_unsigned(t, total / calls);
	else
		table_none(t);
	table_number(t, 12.5);
	table_unsigned(t, UINT64_MAX);
}

static char *printed(struct table *t, const struct table_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(style ? table_print(t, style, out) : table_json(t, NULL, out), 0);
	fclose(out);
	return text;
}

static void prints(struct table *t, const struct table_style *style, const char *want)
{
	char *text = printed(t, style);

	assert_string_equal(text, want);
	free(text);
}

static const struct table_style unlimited = { .no_titles = false };

static void text(void **state)
{
	struct table t;

	table_init(&t, "calls", columns, COUNT(columns));
	table_caption(&t, "first %s", "inter\033val");
	add(&t, "bash 7", 12, 345678);
	add(&t, "kworker/0:1 123", 0, 5);
	prints(&t, &unlimited,
	       "first inter\\x1bval\n"
	       "thread           calls  total(us)     p50  %total\n"
	       "bash 7              12    345.678  28.806   12.50\n"
	       "kworker/0:1 123      0      0.005       -   12.50\n");
	table_clear(&t);
	add(&t, "a", 1, 1);   /* lines up with the one before */
	prints(&t, &(struct table_style){ .no_titles = true },
	       "a                    1      0.001   0.001   12.50\n");
	table_free(&t);
}

static void narrow_terminals_cut_text_not_numbers(void **state)
{
	struct table_style style = { .terminal.columns = 40 };
	struct table t;

	table_init(&t, "calls", columns, COUNT(columns));
	add(&t, "a very long name that does not fit", 123456, 345678);
	prints(&t, &style,
	       "thread      calls total(us)   p50 %total\n"
	       "a very lo… 123456   345.678 0.002  12.50\n");
	style.terminal.columns = 50;
	prints(&t, &style,
	       "thread                calls total(us)   p50 %total\n"
	       "a very long name th… 123456   345.678 0.002  12.50\n");
	style.terminal.columns = 10;   /* too narrow for the numbers alone */
	prints(&t, &style,
	       "thread    calls total(us)   p50 %total\n"
	       "a very … 123456   345.678 0.002  12.50\n");
	table_free(&t);
}

static void one_long_text_widens_its_row_alone(void **state)
{
	static const struct table_column three[] = { { "n", TABLE_INTEGER }, { "function", TABLE_TEXT }, { "dso", TABLE_TEXT } };
	struct table t;
	char longer[101] = "";

	memset(longer, 'x', 100);
	table_init(&t, "functions", three, COUNT(three));
	for (unsigned int i = 0; i < 2; i++) {
		table_row(&t);
		table_unsigned(&t, i);
		table_text(&t, i ? "main" : longer);
		table_text(&t, "job");
	}
	prints(&t, &unlimited,
	       "n  function                                          dso\n"
	       "0  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  job\n"
	       "1  main                                              job\n");
	prints(&t, &(struct table_style){ .terminal.columns = 30 },
	       "n function                 dso\n"
	       "0 xxxxxxxxxxxxxxxxxxxxxxx… job\n"
	       "1 main                     job\n");
	table_free(&t);
}

static void a_column_can_be_wider(void **state)
{
	static const struct table_column two[] = { { "on", TABLE_TEXT, .most = 60 }, { "n", TABLE_INTEGER } };
	struct table t;
	char text[61] = "";

	table_init(&t, "waits", two, COUNT(two));
	for (unsigned int i = 0; i < 2; i++) {
		memset(text, 'x', i ? 60 : 4);
		table_row(&t);
		table_text(&t, text);
		table_unsigned(&t, i);
	}
	prints(&t, &unlimited,
	       "on                                                            n\n"
	       "xxxx                                                          0\n"
	       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  1\n");
	table_free(&t);
}

/* Paths lose their folders first, then names what stands before the function. */
static void names_and_paths_fit(void **state)
{
	static const struct table_column two[] = { { "function", TABLE_TEXT, .fit = FIT_NAME }, { "dso", TABLE_TEXT, .fit = FIT_PATH } };
	struct table t;

	table_init(&t, "functions", two, COUNT(two));
	table_row(&t);
	table_text(&t, "shop::Cart<int, long>::add");
	table_text(&t, "/home/me/shop/bin/app");
	table_row(&t);
	table_text(&t, "main");
	table_text(&t, "/bin/app");
	prints(&t, &(struct table_style){ .terminal.columns = 40 },
	       "function                   dso\n"
	       "shop::Cart<int, long>::add …/bin/app\n"
	       "main                       /bin/app\n");
	prints(&t, &(struct table_style){ .terminal.columns = 27 },
	       "function           dso\n"
	       "shop::Cart<…>::add …/app\n"
	       "main               /bin/app\n");
	prints(&t, &unlimited,
	       "function                    dso\n"
	       "shop::Cart<int, long>::add  /home/me/shop/bin/app\n"
	       "main                        /bin/app\n");
	table_free(&t);
}

static void parts_of_rows(void **state)
{
	static const struct table_column two[] = { { "n", TABLE_INTEGER }, { "name", TABLE_TEXT } };
	static const char *const names[] = { "a", " a1", " a2", "b", "c", " c1" };
	struct table t;
	char *line;

	table_init(&t, "parts", two, COUNT(two));
	for (size_t i = 0; i < COUNT(names); i++) {
		table_row(&t);
		table_unsigned(&t, i);
		table_text(&t, names[i]);
		if (*names[i] == ' ')
			table_part(&t, "inlined");
	}
	prints(&t, &(struct table_style){ .max_rows = 1 }, "n  name\n0  a\n1   a1\n2   a2\n... 2 more\n");
	prints(&t, &(struct table_style){ .max_rows = 2 }, "n  name\n0  a\n1   a1\n2   a2\n3  b\n... 1 more\n");
	prints(&t, &(struct table_style){ .match = "c" }, "n  name\n4  c\n5   c1\n");
	line = printed(&t, NULL);
	assert_non_null(strstr(line, "\"rows\":[{\"n\":0,\"name\":\"a\",\"inlined\":[{\"n\":1,\"name\":\" a1\"},"
				     "{\"n\":2,\"name\":\" a2\"}]},{\"n\":3,\"name\":\"b\"},"
				     "{\"n\":4,\"name\":\"c\",\"inlined\":[{\"n\":5,\"name\":\" c1\"}]}]"));
	free(line);
	table_clear(&t);
	table_row(&t);
	table_part(&t, "inlined");   /* of nothing: a row */
	line = printed(&t, NULL);
	assert_non_null(strstr(line, "\"rows\":[{}]"));
	free(line);
	table_free(&t);
}

static void narrow_terminals_leave_out_what_matters_least(void **state)
{
	static const struct table_column some[] = {
		{ "call", TABLE_TEXT }, { "total", TABLE_DURATION, .spare = 3 }, { "p50", TABLE_DURATION, .spare = 2 },
		{ "p95", TABLE_DURATION, .spare = 1 }, { "max", TABLE_DURATION },
	};
	static const struct {
		unsigned int columns;
		const char *text;
	} rows[] = {
		{ 0, "call                  total(us)    p50    p95    max\n"
		     "clock_nanosleep(230)      1.000  2.000  3.000  4.000\n" },
		{ 50, "call                 total(us)   p50   p95   max\n"
		      "clock_nanosleep(230)     1.000 2.000 3.000 4.000\n" },
		{ 47, "call                 total(us)   p50   max\n"
		      "clock_nanosleep(230)     1.000 2.000 4.000\n" },
		{ 36, "call                 total(us)   max\n"
		      "clock_nanosleep(230)     1.000 4.000\n" },
		{ 30, "call                 max(us)\n"
		      "clock_nanosleep(230)   4.000\n" },
		{ 20, "call         max(us)\n"
		      "clock_nanos…   4.000\n" },
		{ 52, "call                  total(us)    p50    p95    max\n"   /* all are there again */
		      "clock_nanosleep(230)      1.000  2.000  3.000  4.000\n" },
	};
	struct table t;
	char *line;

	table_init(&t, "calls", some, COUNT(some));
	table_row(&t);
	table_text(&t, "clock_nanosleep(230)");
	for (uint64_t us = 1; us <= 4; us++)
		table_unsigned(&t, us * 1000);
	for (size_t i = 0; i < COUNT(rows); i++)
		prints(&t, &(struct table_style){ .terminal.columns = rows[i].columns }, rows[i].text);
	line = printed(&t, NULL);
	assert_non_null(strstr(line, "\"p95\":3000"));
	free(line);
	table_free(&t);
}

static void wide_characters(void **state)
{
	static const struct table_column two[] = { { "name", TABLE_TEXT }, { "n", TABLE_INTEGER } };
	struct table_style style = { .terminal.columns = 12 };
	struct table t;

	assert_int_equal(columns_of("日本"), 4);
	assert_int_equal(columns_of("e\xcc\x81"), 1);
	assert_int_equal(columns_of("\xff"), 1);
	assert_int_equal(columns_fit("日本", 3), 3);
	assert_int_equal(columns_fit("abc", 2), 2);
	table_init(&t, "names", two, 2);
	table_row(&t);
	table_text(&t, "日本語の名前");
	table_integer(&t, -1);
	table_row(&t);
	table_text(&t, "ascii");
	prints(&t, &unlimited, "name           n\n日本語の名前  -1\nascii          -\n");
	prints(&t, &style, "name       n\n日本語の… -1\nascii      -\n");
	table_free(&t);
}

static void hostile_names(void **state)
{
	static const struct table_column one[] = { { "name", TABLE_TEXT } };
	struct table t;
	char *line;
	json_object *root;

	table_init(&t, "names", one, 1);
	table_row(&t);
	table_textn(&t, "\033]0;x\a\xff\xc2\x9b\"\n", 11);
	prints(&t, &(struct table_style){ .no_titles = true },
	       "\\x1b]0;x\\x07\\xff\\xc2\\x9b\"\\x0a\n");
	line = printed(&t, NULL);
	root = json_tokener_parse(line);
	assert_non_null(root);
	for (const char *p = line; *p && p[1]; p++)
		assert_true(*p >= ' ' && *p < 127);
	json_object_put(root);
	free(line);
	table_free(&t);
}

static void only_some_rows(void **state)
{
	struct table_style style = { .no_titles = true, .match = "AB" };
	struct table t;

	table_init(&t, "calls", columns, COUNT(columns));
	add(&t, "xAbx", 2, 50);
	add(&t, "a much longer name, which widens nothing", 2, 50);
	add(&t, "ab", 1, 70);
	add(&t, "cab", 12, 70);
	prints(&t, &style,
	       "xAbx   2  0.050  0.025  12.50\n"
	       "ab     1  0.070  0.070  12.50\n"
	       "cab   12  0.070  0.005  12.50\n");
	style.max_rows = 2;
	prints(&t, &style,
	       "xAbx   2  0.050  0.025  12.50\n"
	       "ab     1  0.070  0.070  12.50\n"
	       "... 1 more\n");
	style.match = "0.005";   /* numbers as they are shown */
	prints(&t, &style, "cab   12  0.070  0.005  12.50\n");
	style.match = "nosuch";
	prints(&t, &style, "");
	table_free(&t);
}

static void order(void **state)
{
	struct table t;
	char *text;

	table_init(&t, "calls", columns, COUNT(columns));
	add(&t, "c", 2, 50);
	add(&t, "none", 0, 70);
	add(&t, "a", 2, UINT64_MAX);
	add(&t, "b", 1, 70);
	assert_int_equal(table_sort(&t, "thread", false), 0);
	assert_int_equal(table_sort(&t, "total", true), 0);
	prints(&t, &(struct table_style){ .no_titles = true, .max_rows = 1 },
	       "a  2  18446744073709552.000  9223372036854776.000  12.50\n... 3 more\n");
	table_sort(&t, "p50", false);   /* empty cells last, both ways */
	text = printed(&t, &unlimited);
	assert_true(strstr(text, "none") > strstr(text, "\na "));
	free(text);
	table_sort(&t, "p50", true);
	text = printed(&t, &unlimited);
	assert_true(strstr(text, "none") > strstr(text, "\nc "));
	free(text);
	/* equal ones as they were */
	table_sort(&t, "thread", true);
	table_sort(&t, "calls", true);
	text = printed(&t, &unlimited);
	assert_true(strstr(text, "\nc ") < strstr(text, "\na "));
	free(text);
	assert_int_equal(table_sort(&t, "nothing", true), -ENOENT);
	table_free(&t);
}

static void json_with_its_text(void **state)
{
	const struct table_style style = { .terminal = { .columns = 20, .colour = true }, .max_rows = 1 };
	static const char want[] = "the caption\n"
				   "thread              calls  total(us)     p50  %total\n"
				   "a task \\xff \"name\"     12    345.678  28.806   12.50\n"
				   "... 1 more\n";
	json_object *root, *text, *rows;
	char *line = NULL;
	struct table t;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	table_init(&t, "calls", columns, COUNT(columns));
	table_caption(&t, "the caption");
	add(&t, "a task \xff \"name\"", 12, 345678);
	table_mark(&t);
	add(&t, "x", 0, 5);
	assert_int_equal(table_json(&t, &style, out), 0);
	fclose(out);
	root = json_tokener_parse(line);
	assert_true(json_object_object_get_ex(root, "text", &text) && json_object_object_get_ex(root, "rows", &rows));
	assert_string_equal(json_object_get_string(text), want);
	assert_int_equal(json_object_array_length(rows), 2);
	json_object_put(root);
	free(line);
	table_free(&t);
}

static void json_has_one_shape(void **state)
{
	struct table t;
	char *line;

	table_init(&t, "calls", columns, COUNT(columns));
	table_extra(&t, "time", json_object_new_int(7));
	add(&t, "bash 7", 12, 345678);
	table_mark(&t);
	add(&t, "x", 0, 5);
	line = printed(&t, NULL);
	assert_string_equal(line,
		"{\"table\":\"calls\",\"time\":7,\"columns\":["
		"{\"name\":\"thread\",\"kind\":\"text\"},{\"name\":\"calls\",\"kind\":\"integer\"},"
		"{\"name\":\"total\",\"kind\":\"duration\",\"unit\":\"ns\"},"
		"{\"name\":\"p50\",\"kind\":\"duration\",\"unit\":\"ns\"},"
		"{\"name\":\"share\",\"kind\":\"percent\",\"unit\":\"%\"},"
		"{\"name\":\"ip\",\"kind\":\"hex\"}],\"rows\":["
		"{\"thread\":\"bash 7\",\"calls\":12,\"total\":345678,\"p50\":28806,\"share\":12.5,"
		"\"ip\":18446744073709551615,\"marked\":true},"
		"{\"thread\":\"x\",\"calls\":0,\"total\":5,\"share\":12.5,"
		"\"ip\":18446744073709551615}]}\n");
	free(line);
	table_clear(&t);
	line = printed(&t, NULL);
	assert_non_null(strstr(line, "\"rows\":[]"));
	assert_null(strstr(line, "time"));
	free(line);
	table_free(&t);
}

static void colours(void **state)
{
	static const struct table_column one[] = { { "name", TABLE_TEXT } };
	struct table_style style = { .terminal.colour = true };
	struct table t;

	table_init(&t, "names", one, 1);
	table_row(&t);
	table_text(&t, "a");
	table_mark(&t);
	table_row(&t);
	table_text(&t, "b");
	prints(&t, &style, "\033[1mname\033[0m\n\033[31ma\033[0m\nb\n");
	table_free(&t);
}

/* What goes to a file or a pipe has neither. */
static void no_terminal_no_limit(void **state)
{
	FILE *pipe = fopen("/dev/null", "w");
	struct terminal terminal = terminal_of(pipe);

	assert_int_equal(terminal.columns, 0);
	assert_false(terminal.colour);
	fclose(pipe);
}

static void kinds_and_strange_cells(void **state)
{
	static const struct table_column all[] = {
		{ "t", TABLE_TIME },
		{ "ms", TABLE_DURATION, .unit = "ms" },
		{ "n", TABLE_NUMBER, .unit = "kB", .digits = 1 },
		{ "hex", TABLE_HEX },
		{ "left", TABLE_INTEGER, .align = TABLE_LEFT },
		{ "right", TABLE_TEXT, .align = TABLE_RIGHT },
	};
	struct table t;

	table_init(&t, "all", all, COUNT(all));
	table_integer(&t, 1);   /* no row yet */
	table_row(&t);
	table_unsigned(&t, 1234567891234);
	table_unsigned(&t, 1500000);
	table_number(&t, 2.25);
	table_unsigned(&t, 255);
	table_integer(&t, -5);
	table_printf(&t, "%d of %d", 1, 2);
	table_integer(&t, 1);   /* one too many */
	table_row(&t);
	table_none(&t);
	table_integer(&t, -1500000);
	table_number(&t, NAN);
	prints(&t, &unlimited,
	       "          t  ms(ms)  n(kB)   hex  left   right\n"
	       "1234.567891   1.500    2.2  0xff  -5    1 of 2\n"
	       "          -  -1.500      -     -  -\n");
	table_free(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(text),
		cmocka_unit_test(narrow_terminals_cut_text_not_numbers),
		cmocka_unit_test(one_long_text_widens_its_row_alone),
		cmocka_unit_test(a_column_can_be_wider),
		cmocka_unit_test(names_and_paths_fit),
		cmocka_unit_test(parts_of_rows),
		cmocka_unit_test(narrow_terminals_leave_out_what_matters_least),
		cmocka_unit_test(wide_characters),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(only_some_rows),
		cmocka_unit_test(order),
		cmocka_unit_test(json_has_one_shape), cmocka_unit_test(json_with_its_text),
		cmocka_unit_test(colours),
		cmocka_unit_test(no_terminal_no_limit),
		cmocka_unit_test(kinds_and_strange_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
