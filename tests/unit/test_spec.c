/* SPDX-License-Identifier: Apache-2.0 */
/* Event lists: what they mean, and what is said where they mean nothing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "events/spec.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct spec_group *group_of(const struct spec_list *list, const struct spec_item *item)
{
	assert_in_range(item->group, 1, list->ngroups);
	return &list->groups[item->group - 1];
}

/* Renders a list in one line: SYS|NAME|FILTER[terms]:MODIFIERS@GROUP=NAME:MODIFIERS{attr}{attr=value};
 * items parted by " ; ". */
static void render(const struct spec_list *list, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < list->nitems; i++) {
		const struct spec_item *item = &list->items[i];

		n += (size_t)snprintf(buf + n, size - n, "%s%s|%s|%s", i ? " ; " : "",
				      item->sys ? item->sys : "", item->name,
				      item->filter ? item->filter : "");
		n += (size_t)snprintf(buf + n, size - n, "%s%s%s", item->terms ? "[terms]" : "",
				      item->modifiers ? ":" : "", item->modifiers ? item->modifiers : "");
		if (item->group)
			n += (size_t)snprintf(buf + n, size - n, "@%zu%s%s%s%s", item->group,
					      group_of(list, item)->name ? "=" : "",
					      group_of(list, item)->name ? group_of(list, item)->name : "",
					      group_of(list, item)->modifiers ? ":" : "",
					      group_of(list, item)->modifiers ? group_of(list, item)->modifiers : "");
		for (size_t k = 0; k < item->nattrs; k++) {
			const struct spec_attr *a = &item->attrs[k];

			n += (size_t)snprintf(buf + n, size - n, "{%s%s%s}", a->name,
					      a->value ? "=" : "", a->value ? a->value : "");
		}
	}
}

static const struct {
	const char *text, *means;
} good[] = {
	{ "sched:sched_wakeup", "sched|sched_wakeup|" },
	{ "profile", "|profile|" },
	{ "a:b,c:d", "a|b| ; c|d|" },
	{ "a:b,c:d,", "a|b| ; c|d|" },
	{ " a:b ,\n c:d , ", "a|b| ; c|d|" },
	{ "sched:sched_wakeup/pid>1000/", "sched|sched_wakeup|pid>1000" },
	{ "sched:sched_wakeup/pid>1000", "sched|sched_wakeup|pid>1000" },
	{ "sched:sched_wakeup//stack/", "sched|sched_wakeup|{stack}" },
	{ "sched:sched_wakeup//stack", "sched|sched_wakeup|{stack}" },
	{ "a:b//stack,c:d//stack", "a|b|{stack} ; c|d|{stack}" },
	{ "a:b/", "a|b|" },
	{ "a:b//", "a|b|" },
	{ "a:b/ /", "a|b|" },
	{ "a:b///", "a|b|" },
	{ "a:b///stack//alias=x/", "a|b|{stack}{alias=x}" },
	{ "a:b/f/stack/max-stack=5/alias=w1/", "a|b|f[terms]{stack}{max-stack=5}{alias=w1}" },
	{ "a:b// stack / alias = w1 / ", "a|b|{stack}{alias=w1}" },
	/* quotes and parentheses protect, and stay */
	{ "a:b/comm==\"x,y/z\"/stack/", "a|b|comm==\"x,y/z\"{stack}" },
	{ "a:b/comm~\"java*\" && prio<10/", "a|b|comm~\"java*\" && prio<10" },
	{ "a:b/comm=='x\"'/", "a|b|comm=='x\"'" },
	{ "a:b/comm==\"x\\\",\"/,c", "a|b|comm==\"x\\\",\" ; |c|" },
	{ "a:b/(x/2)>1 && f(a,b)/", "a|b|(x/2)>1 && f(a,b)" },
	{ "a:b/comm==\"(\"/", "a|b|comm==\"(\"" },
	{ "a:b//key=(_cpu<<16)|vec/", "a|b|{key=(_cpu<<16)|vec}" },
	{ "a:b//key=a==b/", "a|b|{key=a==b}" },
	{ "a:b//comm=ksymbol(function)/", "a|b|{comm=ksymbol(function)}" },
	{ "a:b//printkey=printf(\"%s\",key<10?\"HIGH\":\"LOW\")/",
	  "a|b|{printkey=printf(\"%s\",key<10?\"HIGH\":\"LOW\")}" },
	{ "a:b/\"x\"==comm || comm==\"y\"/", "a|b|\"x\"==comm || comm==\"y\"" },
	/* one quoted string as a whole: the quotes go */
	{ "a:b//top-by=\"runtime/1000\"/", "a|b|{top-by=runtime/1000}" },
	{ "a:b//cpus='0-3,7'/", "a|b|{cpus=0-3,7}" },
	{ "a:b//alias=\"x y\"/", "a|b|{alias=x y}" },
	{ "uprobe:f/x>1/,uprobe:operator<@\"/x\"", "uprobe|f|x>1 ; uprobe|operator<@\"/x\"|" },
	{ "a:b/x>1,c:d", "a|b|x>1 ; c|d|" },
	{ "a:b//alias=\"\"/", "a|b|{alias=}" },
	{ "a:b//alias=\"\\\"x\\\\ \\n\"/", "a|b|{alias=\"x\\ \\n}" },
	{ "a:b/\"x/2>1\"/", "a|b|x/2>1" },
	{ "a:b/\"\"/", "a|b|" },
	/* names */
	{ "kprobe:f", "kprobe|f|" },
	{ "kprobe:f//stack/", "kprobe|f|{stack}" },
	{ "uprobe:f@\"/lib/a,b.so\"", "uprobe|f@\"/lib/a,b.so\"|" },
	{ "uretprobe:f@'/a b/c'/x>1/stack/,c:d", "uretprobe|f@'/a b/c'|x>1{stack} ; c|d|" },
	/* paths without quotes */
	{ "uprobe:f@./x", "uprobe|f@./x|" },
	{ "uprobe:f@/lib/x.so,c:d", "uprobe|f@/lib/x.so| ; c|d|" },
	{ "{uprobe:f@../a/b.so,usdt:a:b@/x/y}", "uprobe|f@../a/b.so|@1 ; usdt|a:b@/x/y|@1" },
	{ "uretprobe:'ns::f(a/b)'@./x//alias=y/", "uretprobe|'ns::f(a/b)'@./x|{alias=y}" },
	{ "uprobe:f@./a/b/", "uprobe|f@./a/b|" },
	{ "uprobe:f@./a/b/x>1/stack/", "uprobe|f@./a/b|x>1{stack}" },
	{ "uprobe:f@./a/b/(x>1)/stack", "uprobe|f@./a/b|(x>1){stack}" },
	{ "uprobe:f@./a//args=\"n=+0($arg1):string\"/", "uprobe|f@./a|{args=n=+0($arg1):string}" },
	{ "uprobe:f/x>1/,a:b@c/d>1/", "uprobe|f|x>1 ; a|b@c|d>1" },
	{ "uprobe:ns::f(int, char)@\"/x\"", "uprobe|ns::f(int, char)@\"/x\"|" },
	{ "sched:sched_wak*", "sched|sched_wak*|" },
	{ "sched:sched_[ws]*,?rq:*", "sched|sched_[ws]*| ; ?rq|*|" },
	{ "9p:9p_client_req", "9p|9p_client_req|" },
	{ "L1-dcache-load-misses,cpu-clock", "|L1-dcache-load-misses| ; |cpu-clock|" },
	{ "a.b:c-d.e_f", "a.b|c-d.e_f|" },
	/* another command as source */
	{ "profile/-F 997 -g/", "|profile|-F 997 -g" },
	{ "task-state/--perins -m 64/alias=t/,page-faults/-N 10/",
	  "|task-state|--perins -m 64{alias=t} ; |page-faults|-N 10" },
	/* terms of perf events: commas belong to them */
	{ "cpu/cpu-cycles/u", "|cpu|cpu-cycles[terms]:u" },
	{ "cpu/event=0x76,umask=0/", "|cpu|event=0x76,umask=0[terms]" },
	{ "cpu/event=0x76,umask=0/u,cs", "|cpu|event=0x76,umask=0[terms]:u ; |cs|" },
	{ "cpu/event=1,umask=0/:kp/alias=x/", "|cpu|event=1,umask=0[terms]:kp{alias=x}" },
	{ "cpu/event=1/alias=x/,cs", "|cpu|event=1[terms]{alias=x} ; |cs|" },
	{ "cpu/name='a, b/c',any/stack/", "|cpu|name='a, b/c',any[terms]{stack}" },
	{ "msr/tsc", "|msr|tsc" },
	{ "cpu/mem-loads,any/,cs", "|cpu|mem-loads,any[terms] ; |cs|" },
	{ "cycles/period=5/", "|cycles|period=5[terms]" },
	{ "cycles:u/freq=99,time=0/", "cycles|u|freq=99,time=0[terms]" },
	{ "cycles/pid==5,cs/x/", "|cycles|pid==5 ; |cs|x[terms]" },
	{ "cycles//period=5/", "|cycles|{period=5}" },
	{ "cycles//u/period=5/", "|cycles|:u{period=5}" },
	{ "a:b/x,c:d/y/", "a|b|x ; c|d|y[terms]" },
	{ "a:b/x,c/y/", "a|b|x ; |c|y[terms]" },
	/* groups */
	{ "{cycles,instructions}:S", "|cycles|@1:S ; |instructions|@1:S" },
	{ "{ a , b } , c", "|a|@1 ; |b|@1 ; |c|" },
	{ "x,{a},{b,c}:uS,y", "|x| ; |a|@1 ; |b|@2:uS ; |c|@2:uS ; |y|" },
	{ "ipc:{a,b}:D", "|a|@1=ipc:D ; |b|@1=ipc:D" },
	{ "{a:b/x>1/,cpu/event=1,umask=2/u}:S", "a|b|x>1@1:S ; |cpu|event=1,umask=2[terms]:u@1:S" },
	{ "{a:b/x>1,c:d//stack}", "a|b|x>1@1 ; c|d|@1{stack}" },
	{ "{a:b/comm==\"}\"/,c}", "a|b|comm==\"}\"@1 ; |c|@1" },
};

static void lists_mean_what_they_say(void **state)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		struct spec_list list = { 0 };
		struct spec_error err;
		char buf[512];

		if (spec_parse(&list, good[i].text, &err)) {
			spec_error_text(&err, buf, sizeof(buf));
			fail_msg("%s: %s", good[i].text, buf);
		}
		render(&list, buf, sizeof(buf));
		assert_string_equal(buf, good[i].means);
		spec_free(&list);
		assert_int_equal(list.nitems, 0);
	}
}

static const struct {
	const char *text;
	size_t at;
	const char *message, *expected;
} bad[] = {
	{ "", 0, "no event", "name of an event" },
	{ "  ", 2, "no event", "name of an event" },
	{ ",", 0, "empty item", "name of an event" },
	{ ",a", 0, "empty item", "name of an event" },
	{ "a,,b", 2, "empty item", "name of an event" },
	{ "a:b//stack/,,", 12, "empty item", "name of an event" },
	{ "/x/", 0, "no event name before", "sys:name" },
	{ "a,/x/", 2, "no event name before", "sys:name" },
	{ ":b", 0, "nothing before the colon", "sys:name" },
	{ "a:", 2, "no event name after", "sys:name" },
	{ "a:/x/", 2, "no event name after", "sys:name" },
	{ "a:b c:d", 4, "space", "\",\" between events" },
	{ "a:b/x==\"y/", 7, "quote is not closed", "same quote" },
	{ "a:b/x=='y\\'/", 7, "quote is not closed", "same quote" },
	{ "a:b/x==\"y\\", 7, "quote is not closed", "same quote" },
	{ "a:b/\"", 4, "quote is not closed", "same quote" },
	{ "a:b/(x/", 4, "parenthesis is not closed", "\")\"" },
	{ "a:b/((x)/", 4, "parenthesis is not closed", "\")\"" },
	{ "a:b/x)/", 5, "closes nothing", "opening" },
	{ "a:b/)(/", 4, "closes nothing", "opening" },
	{ "a:b//cpus=0-3,7/", 14, "number", "cpus=\"0-3,7\"" },
	{ "a:b//top-by=runtime/1000/", 20, "not an attribute", "quotes" },
	{ "a:b//comm==\"x\"/", 9, "not an attribute", "first slot" },
	{ "a:b//prio<10/", 9, "not an attribute", "first slot" },
	{ "a:b//=x/", 5, "not an attribute", "word" },
	{ "a:b//alias=/", 11, "without its value", "\"\"" },
	{ "a:b//stack alias=x/", 11, "without a slash", "\"/\"" },
	{ "a:b/x>1,y<2/", 7, "comma does not join", "&&" },
	{ "a:b/x>1 , y<2/", 8, "comma does not join", "&&" },
	{ "a:b/x>1,y==\"z\"", 7, "comma does not join", "&&" },
	{ "a:b//alias=,c", 11, "without its value", "\"\"" },
	{ "{a,b", 0, "group is not closed", "\"}\"" },
	{ "c,{a,b,", 2, "group is not closed", "\"}\"" },
	{ "{", 0, "not closed", "\"}\"" },
	{ "{}", 1, "empty item", "name of an event" },
	{ "{a,}", 3, "empty item", "name of an event" },
	{ "{a,{b}}", 3, "a group within a group", "name of an event" },
	{ "{a}:", 4, "not a modifier", "S" },
	{ "{a}:x", 4, "not a modifier", "S" },
	{ "{a}:Sx", 5, "unexpected text", "comma" },
	{ "{a}b", 3, "unexpected text", "comma" },
	{ "{a}}", 3, "unexpected text", "comma" },
};

static void mistakes_are_shown_at_their_place(void **state)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct spec_list list = { 0 };
		struct spec_error err;

		assert_int_equal(spec_parse(&list, bad[i].text, &err), -EINVAL);
		if (err.at != bad[i].at)
			fail_msg("%s: caret at %zu instead of %zu", bad[i].text, err.at, bad[i].at);
		if (!strstr(err.message, bad[i].message) || !strstr(err.expected, bad[i].expected))
			fail_msg("%s: %s; expected %s", bad[i].text, err.message, err.expected);
		assert_string_equal(err.text, bad[i].text);
		assert_null(list.items);
		assert_null(list.texts);
	}
}

static void a_mistake_leaves_the_list_as_it_was(void **state)
{
	struct spec_list list = { 0 };
	char buf[128];

	assert_int_equal(spec_parse(&list, "a:b", NULL), 0);
	assert_int_equal(spec_parse(&list, "c:d,e:f,,", NULL), -EINVAL);
	assert_int_equal(spec_parse(&list, "g:h//stack/", NULL), 0);
	render(&list, buf, sizeof(buf));
	assert_string_equal(buf, "a|b| ; g|h|{stack}");
	assert_int_equal(list.ntexts, 2);
	assert_string_equal(list.items[0].text, "a:b");
	assert_string_equal(list.items[1].text, "g:h//stack/");
	spec_free(&list);
}

static void an_item_knows_its_place(void **state)
{
	const char *text = "a:b , c:d / x>1 / alias = \"y\" /stack/ ,";
	struct spec_list list = { 0 };
	const struct spec_item *item;

	assert_int_equal(spec_parse(&list, text, NULL), 0);
	item = &list.items[1];
	assert_int_equal(list.items[0].len, 3);
	assert_string_equal(text + item->at, "c:d / x>1 / alias = \"y\" /stack/ ,");
	assert_int_equal(item->len, strlen("c:d / x>1 / alias = \"y\" /stack/"));
	assert_memory_equal(text + item->filter_at, "x>1", 3);
	assert_memory_equal(text + item->attrs[0].at, "alias", 5);
	assert_memory_equal(text + item->attrs[0].value_at, "y\"", 2);
	assert_memory_equal(text + item->attrs[1].at, "stack", 5);
	assert_memory_equal(text + item->attrs[1].value_at, "/", 1);
	spec_free(&list);
}

static void attributes_are_found_by_name(void **state)
{
	struct spec_list list = { 0 };
	const struct spec_item *item;

	assert_int_equal(spec_parse(&list, "a//stack/alias=x/alias=y/", NULL), 0);
	item = &list.items[0];
	assert_string_equal(spec_attr(item, "alias"), "y");
	assert_string_equal(spec_attr(item, "stack"), "");
	assert_null(spec_attr(item, "stac"));
	spec_free(&list);
}

static void globs_are_told_from_names(void **state)
{
	assert_true(spec_is_glob("sched_*"));
	assert_true(spec_is_glob("a?b"));
	assert_true(spec_is_glob("[ab]c"));
	assert_false(spec_is_glob("sched_wakeup"));
	assert_false(spec_is_glob("f@\"/tmp/*\""));
	assert_true(spec_is_glob("f*@\"/tmp/x\""));
	assert_false(spec_is_glob(""));
}

static void a_late_complaint_shows_the_item(void **state)
{
	struct spec_list list = { 0 };
	struct spec_error err;
	char buf[512];

	assert_int_equal(spec_parse(&list, "a:b,c:d/x>1/", NULL), 0);
	spec_complain(&err, &list.items[1], list.items[1].filter_at, "no field x", "y or z");
	spec_error_text(&err, buf, sizeof(buf));
	assert_string_equal(buf, "no field x\n  a:b,c:d/x>1/\n          ^\nexpected: y or z");
	spec_complain(&err, &list.items[1], 0, "\033[31m", "\n");
	assert_string_equal(err.message, "\\x1b[31m");
	assert_string_equal(err.expected, "\\x0a");
	spec_complain(&err, &list.items[1], 1000, "late", NULL);
	assert_int_equal(err.at, 12);
	assert_int_equal(spec_error_text(&err, buf, 4), 3);
	assert_string_equal(buf, "lat");
	spec_free(&list);
}

static void the_caret_counts_columns_not_bytes(void **state)
{
	struct spec_list list = { 0 };
	struct spec_error err;

	assert_int_equal(spec_parse(&list, "gr\xc3\xbc\xc3\x9f:\033,,", &err), -EINVAL);
	assert_string_equal(err.text, "gr\xc3\xbc\xc3\x9f:\\x1b,,");
	assert_int_equal(err.at, 10);
}

/* A terminal gives two columns to some characters, and none to others. */
static void the_caret_knows_wide_characters(void **state)
{
	struct spec_list list = { 0 };
	struct spec_error err;

	assert_int_equal(spec_parse(&list, "\u65e5\u672c:\u00e9,,", &err), -EINVAL);
	assert_int_equal(err.at, 7);
	assert_int_equal(spec_parse(&list, "e\u0301:\U0001f600,,", &err), -EINVAL);
	assert_int_equal(err.at, 5);
}

static void a_place_within_a_filter_is_found_in_the_list(void **state)
{
	static const char *const texts[] = {
		"a:b/x>1/", "a:b,c:d/ x>1 /stack/", "a:b/\"x>1\"/", "a:b/ 'x==\"y\"' /",
		"a:b/\"x==\\\"y\\\" && z~\\\"\\\\*\\\"\"/",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct spec_list list = { 0 };
		const struct spec_item *item;

		assert_int_equal(spec_parse(&list, texts[i], NULL), 0);
		item = &list.items[list.nitems - 1];
		for (size_t k = 0; item->filter[k]; k++)
			assert_int_equal(texts[i][spec_place(item, item->filter_at, k)],
					 item->filter[k]);
		spec_free(&list);
	}
}

static void of_a_long_list_the_neighbourhood_is_shown(void **state)
{
	struct spec_list list = { 0 };
	struct spec_error err;
	char text[4001];

	for (size_t i = 0; i < 4000; i += 4)
		memcpy(text + i, "a:b,", 4);
	text[4000] = '\0';
	text[2002] = ',';
	assert_int_equal(spec_parse(&list, text, &err), -EINVAL);
	assert_true(strlen(err.text) < 200);
	assert_memory_equal(err.text, "...", 3);
	assert_string_equal(err.text + strlen(err.text) - 3, "...");
	assert_memory_equal(err.text + err.at - 2, "a:,,", 4);
	memset(text, '\033', 4000);
	text[3000] = '(';
	assert_int_equal(spec_parse(&list, text, &err), -EINVAL);
	assert_int_equal(err.text[err.at], '(');
}

/* The words behind "-e " in the manual: up to the closing quote or the next space. */
static char *next_example(char **text)
{
	char *start = strstr(*text, "-e "), *end;
	const char *ends = " \n`";

	if (!start)
		return NULL;
	start += 3;
	if (*start == '\'' || *start == '"')
		ends = *start++ == '"' ? "\"" : "'";
	end = start + strcspn(start, ends);
	*text = *end ? end + 1 : end;
	*end = '\0';
	return start;
}

static void the_examples_of_the_manual_are_event_lists(void **state)
{
	const char *root = getenv("SOURCE_ROOT");
	char path[4096], text[32768], *at = text, *example;
	size_t n, count = 0;
	FILE *file;

	if (!root)
		skip();
	snprintf(path, sizeof(path), "%s/docs/events.md", root);
	file = fopen(path, "r");
	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	assert_true(n < sizeof(text) - 1);
	text[n] = '\0';
	for (; (example = next_example(&at)); count++) {
		struct spec_list list = { 0 };
		struct spec_error err;
		int ret = spec_parse(&list, example, &err);

		if (ret)
			fail_msg("%s: %s; expected %s", example, err.message, err.expected);
		spec_free(&list);
	}
	assert_true(count > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_mean_what_they_say),
		cmocka_unit_test(mistakes_are_shown_at_their_place),
		cmocka_unit_test(a_mistake_leaves_the_list_as_it_was),
		cmocka_unit_test(an_item_knows_its_place),
		cmocka_unit_test(attributes_are_found_by_name),
		cmocka_unit_test(globs_are_told_from_names),
		cmocka_unit_test(a_late_complaint_shows_the_item),
		cmocka_unit_test(the_caret_counts_columns_not_bytes),
		cmocka_unit_test(the_caret_knows_wide_characters),
		cmocka_unit_test(a_place_within_a_filter_is_found_in_the_list),
		cmocka_unit_test(of_a_long_list_the_neighbourhood_is_shown),
		cmocka_unit_test(the_examples_of_the_manual_are_event_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
