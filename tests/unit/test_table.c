/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: widths, units, order; hostile text; the one shape of JSON. */
#include "checks.h"

#include "base/columns.h"
#include "report/table.h"

#include <json-c/json.h>
#include <math.h>

static const struct table_column columns[] = {
	{ "thread", TABLE_TEXT }, { "calls", TABLE_INTEGER }, { "total", TABLE_DURATION }, { "p50", TABLE_DURATION },
	{ "share", TABLE_PERCENT, .title = "%total" }, { "ip", TABLE_HEX, .where = TABLE_ONLY_JSON },
};

static struct table t;

static int tear_down(void **state)
{
	table_free(&t);
	memset(&t, 0, sizeof(t));
	return 0;
}

static void add(const char *thread, uint64_t calls, uint64_t total)
{
	table_row(&t);
	table_text(&t, thread);
	table_unsigned(&t, calls);
	table_unsigned(&t, total);
	if (calls)
		table_unsigned(&t, total / calls);
	else
		table_none(&t);
	table_number(&t, 12.5);
	table_unsigned(&t, UINT64_MAX);
}

/* By the style; as JSON without one. */
static char *printed(const struct table_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(style ? table_print(&t, style, out) : table_json(&t, NULL, out), 0);
	fclose(out);
	return text;
}

static void prints(const struct table_style *style, const char *want)
{
	char *text = printed(style);

	assert_string_equal(text, want);
	free(text);
}

static void json_has(const char *part)
{
	char *text = printed(NULL);

	SAYS(text, part);
	free(text);
}

/* A row that begins with these texts; NULL ends them. */
static void row(const char *text, ...)
{
	va_list more;

	table_row(&t);
	va_start(more, text);
	for (; text; text = va_arg(more, const char *))
		table_text(&t, text);
	va_end(more);
}

static const struct table_style unlimited = { .no_titles = false };

TEST_WITH(text, NULL, tear_down)
{
	table_init(&t, "calls", columns, COUNT(columns));
	table_caption(&t, "first %s", "inter\033val");
	add("bash 7", 12, 345678);
	add("kworker/0:1 123", 0, 5);
	prints(&unlimited,
	       "first inter\\x1bval\n"
	       "thread           calls  total(us)     p50  %total\n"
	       "bash 7              12    345.678  28.806   12.50\n"
	       "kworker/0:1 123      0      0.005       -   12.50\n");
	table_clear(&t);
	add("a", 1, 1);   /* lines up with the one before */
	prints(&(struct table_style){ .no_titles = true }, "a                    1      0.001   0.001   12.50\n");
}

TEST_WITH(narrow_terminals_cut_text_not_numbers, NULL, tear_down)
{
	struct table_style style = { .terminal.columns = 40 };

	table_init(&t, "calls", columns, COUNT(columns));
	add("a very long name that does not fit", 123456, 345678);
	prints(&style,
	       "thread      calls total(us)   p50 %total\n"
	       "a very lo… 123456   345.678 0.002  12.50\n");
	style.terminal.columns = 50;
	prints(&style,
	       "thread                calls total(us)   p50 %total\n"
	       "a very long name th… 123456   345.678 0.002  12.50\n");
	style.terminal.columns = 10;   /* too narrow for the numbers alone */
	prints(&style,
	       "thread    calls total(us)   p50 %total\n"
	       "a very … 123456   345.678 0.002  12.50\n");
}

TEST_WITH(one_long_text_widens_its_row_alone, NULL, tear_down)
{
	static const struct table_column three[] = { { "n", TABLE_INTEGER }, { "function", TABLE_TEXT }, { "dso", TABLE_TEXT } };
	char longer[101] = "";

	memset(longer, 'x', 100);
	table_init(&t, "functions", three, COUNT(three));
	for (unsigned int i = 0; i < 2; i++) {
		table_row(&t);
		table_unsigned(&t, i);
		table_text(&t, i ? "main" : longer);
		table_text(&t, "job");
	}
	prints(&unlimited,
	       "n  function                                          dso\n"
	       "0  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  job\n"
	       "1  main                                              job\n");
	prints(&(struct table_style){ .terminal.columns = 30 },
	       "n function                 dso\n"
	       "0 xxxxxxxxxxxxxxxxxxxxxxx… job\n"
	       "1 main                     job\n");
}

TEST_WITH(a_column_can_be_wider, NULL, tear_down)
{
	static const struct table_column two[] = { { "on", TABLE_TEXT, .most = 60 }, { "n", TABLE_INTEGER } };
	char text[61] = "";

	table_init(&t, "waits", two, COUNT(two));
	for (unsigned int i = 0; i < 2; i++) {
		memset(text, 'x', i ? 60 : 4);
		row(text, NULL);
		table_unsigned(&t, i);
	}
	prints(&unlimited,
	       "on                                                            n\n"
	       "xxxx                                                          0\n"
	       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  1\n");
}

/* Paths lose their folders first, then names what stands before the function. */
TEST_WITH(names_and_paths_fit, NULL, tear_down)
{
	static const struct table_column two[] = { { "function", TABLE_TEXT, .fit = FIT_NAME }, { "dso", TABLE_TEXT, .fit = FIT_PATH } };

	table_init(&t, "functions", two, COUNT(two));
	row("shop::Cart<int, long>::add", "/home/me/shop/bin/app", NULL);
	row("main", "/bin/app", NULL);
	prints(&(struct table_style){ .terminal.columns = 40 },
	       "function                   dso\n"
	       "shop::Cart<int, long>::add …/bin/app\n"
	       "main                       /bin/app\n");
	prints(&(struct table_style){ .terminal.columns = 27 },
	       "function           dso\n"
	       "shop::Cart<…>::add …/app\n"
	       "main               /bin/app\n");
	prints(&unlimited,
	       "function                    dso\n"
	       "shop::Cart<int, long>::add  /home/me/shop/bin/app\n"
	       "main                        /bin/app\n");
}

TEST_WITH(parts_of_rows, NULL, tear_down)
{
	static const struct table_column two[] = { { "n", TABLE_INTEGER }, { "name", TABLE_TEXT } };
	static const char *const names[] = { "a", " a1", " a2", "b", "c", " c1" };

	table_init(&t, "parts", two, COUNT(two));
	for (size_t i = 0; i < COUNT(names); i++) {
		table_row(&t);
		table_unsigned(&t, i);
		table_text(&t, names[i]);
		if (*names[i] == ' ')
			table_part(&t, "inlined");
	}
	prints(&(struct table_style){ .max_rows = 1 }, "n  name\n0  a\n1   a1\n2   a2\n... 2 more\n");
	prints(&(struct table_style){ .max_rows = 2 }, "n  name\n0  a\n1   a1\n2   a2\n3  b\n... 1 more\n");
	prints(&(struct table_style){ .match = "c" }, "n  name\n4  c\n5   c1\n");
	json_has("\"rows\":[{\"n\":0,\"name\":\"a\",\"inlined\":[{\"n\":1,\"name\":\" a1\"},"
				     "{\"n\":2,\"name\":\" a2\"}]},{\"n\":3,\"name\":\"b\"},"
				     "{\"n\":4,\"name\":\"c\",\"inlined\":[{\"n\":5,\"name\":\" c1\"}]}]");
	table_clear(&t);
	table_row(&t);
	table_part(&t, "inlined");   /* of nothing: a row */
	json_has("\"rows\":[{}]");
}

TEST_WITH(narrow_terminals_leave_out_what_matters_least, NULL, tear_down)
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

	table_init(&t, "calls", some, COUNT(some));
	row("clock_nanosleep(230)", NULL);
	for (uint64_t us = 1; us <= 4; us++)
		table_unsigned(&t, us * 1000);
	for (size_t i = 0; i < COUNT(rows); i++)
		prints(&(struct table_style){ .terminal.columns = rows[i].columns }, rows[i].text);
	json_has("\"p95\":3000");
}

TEST_WITH(wide_characters, NULL, tear_down)
{
	static const struct table_column two[] = { { "name", TABLE_TEXT }, { "n", TABLE_INTEGER } };
	struct table_style style = { .terminal.columns = 12 };

	assert_int_equal(columns_of("日本"), 4);
	assert_int_equal(columns_of("e\xcc\x81"), 1);
	assert_int_equal(columns_of("\xff"), 1);
	assert_int_equal(columns_fit("日本", 3), 3);
	assert_int_equal(columns_fit("abc", 2), 2);
	table_init(&t, "names", two, 2);
	row("日本語の名前", NULL);
	table_integer(&t, -1);
	row("ascii", NULL);
	prints(&unlimited, "name           n\n日本語の名前  -1\nascii          -\n");
	prints(&style, "name       n\n日本語の… -1\nascii      -\n");
}

TEST_WITH(hostile_names, NULL, tear_down)
{
	static const struct table_column one[] = { { "name", TABLE_TEXT } };
	char *line;
	json_object *root;

	table_init(&t, "names", one, 1);
	table_row(&t);
	table_textn(&t, "\033]0;x\a\xff\xc2\x9b\"\n", 11);
	prints(&(struct table_style){ .no_titles = true }, "\\x1b]0;x\\x07\\xff\\xc2\\x9b\"\\x0a\n");
	line = printed(NULL);
	root = json_tokener_parse(line);
	assert_non_null(root);
	for (const char *p = line; *p && p[1]; p++)
		assert_true(*p >= ' ' && *p < 127);
	json_object_put(root);
	free(line);
}

TEST_WITH(only_some_rows, NULL, tear_down)
{
	struct table_style style = { .no_titles = true, .match = "AB" };

	table_init(&t, "calls", columns, COUNT(columns));
	add("xAbx", 2, 50);
	add("a much longer name, which widens nothing", 2, 50);
	add("ab", 1, 70);
	add("cab", 12, 70);
	prints(&style,
	       "xAbx   2  0.050  0.025  12.50\n"
	       "ab     1  0.070  0.070  12.50\n"
	       "cab   12  0.070  0.005  12.50\n");
	style.max_rows = 2;
	prints(&style,
	       "xAbx   2  0.050  0.025  12.50\n"
	       "ab     1  0.070  0.070  12.50\n"
	       "... 1 more\n");
	style.match = "0.005";   /* numbers as they are shown */
	prints(&style, "cab   12  0.070  0.005  12.50\n");
	style.match = "nosuch";
	prints(&style, "");
}

static void stands_before(const char *first, const char *second)
{
	char *text = printed(&unlimited);

	assert_true(strstr(text, first) && strstr(text, first) < strstr(text, second));
	free(text);
}

TEST_WITH(order, NULL, tear_down)
{
	table_init(&t, "calls", columns, COUNT(columns));
	add("c", 2, 50);
	add("none", 0, 70);
	add("a", 2, UINT64_MAX);
	add("b", 1, 70);
	assert_int_equal(table_sort(&t, "thread", false), 0);
	assert_int_equal(table_sort(&t, "total", true), 0);
	prints(&(struct table_style){ .no_titles = true, .max_rows = 1 },
	       "a  2  18446744073709552.000  9223372036854776.000  12.50\n... 3 more\n");
	table_sort(&t, "p50", false);   /* empty cells last, both ways */
	stands_before("\na ", "none");
	table_sort(&t, "p50", true);
	stands_before("\nc ", "none");
	/* equal ones as they were */
	table_sort(&t, "thread", true);
	table_sort(&t, "calls", true);
	stands_before("\nc ", "\na ");
	assert_int_equal(table_sort(&t, "nothing", true), -ENOENT);
}

TEST_WITH(json_with_its_text, NULL, tear_down)
{
	const struct table_style style = { .terminal = { .columns = 20, .colour = true }, .max_rows = 1 };
	static const char want[] = "the caption\n"
				   "thread              calls  total(us)     p50  %total\n"
				   "a task \\xff \"name\"     12    345.678  28.806   12.50\n"
				   "... 1 more\n";
	json_object *root, *text, *rows;
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	table_init(&t, "calls", columns, COUNT(columns));
	table_caption(&t, "the caption");
	add("a task \xff \"name\"", 12, 345678);
	table_mark(&t);
	add("x", 0, 5);
	assert_int_equal(table_json(&t, &style, out), 0);
	fclose(out);
	root = json_tokener_parse(line);
	assert_true(json_object_object_get_ex(root, "text", &text) && json_object_object_get_ex(root, "rows", &rows));
	assert_string_equal(json_object_get_string(text), want);
	assert_int_equal(json_object_array_length(rows), 2);
	json_object_put(root);
	free(line);
}

TEST_WITH(json_has_one_shape, NULL, tear_down)
{
	char *line;

	table_init(&t, "calls", columns, COUNT(columns));
	table_extra(&t, "time", json_object_new_int(7));
	add("bash 7", 12, 345678);
	table_mark(&t);
	add("x", 0, 5);
	line = printed(NULL);
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
	line = printed(NULL);
	assert_non_null(strstr(line, "\"rows\":[]"));
	assert_null(strstr(line, "time"));
	free(line);
}

TEST_WITH(colours, NULL, tear_down)
{
	static const struct table_column one[] = { { "name", TABLE_TEXT } };
	struct table_style style = { .terminal.colour = true };

	table_init(&t, "names", one, 1);
	row("a", NULL);
	table_mark(&t);
	row("b", NULL);
	prints(&style, "\033[1mname\033[0m\n\033[31ma\033[0m\nb\n");
}

/* What goes to a file or a pipe has neither. */
TEST_WITH(no_terminal_no_limit, NULL, tear_down)
{
	FILE *pipe = fopen("/dev/null", "w");
	struct terminal terminal = terminal_of(pipe);

	assert_int_equal(terminal.columns, 0);
	assert_false(terminal.colour);
	fclose(pipe);
}

TEST_WITH(kinds_and_strange_cells, NULL, tear_down)
{
	static const struct table_column all[] = {
		{ "t", TABLE_TIME }, { "ms", TABLE_DURATION, .unit = "ms" },
		{ "n", TABLE_NUMBER, .unit = "kB", .digits = 1 }, { "hex", TABLE_HEX },
		{ "left", TABLE_INTEGER, .align = TABLE_LEFT }, { "right", TABLE_TEXT, .align = TABLE_RIGHT },
	};

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
	prints(&unlimited,
	       "          t  ms(ms)  n(kB)   hex  left   right\n"
	       "1234.567891   1.500    2.2  0xff  -5    1 of 2\n"
	       "          -  -1.500      -     -  -\n");
}
