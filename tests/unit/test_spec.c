/* SPDX-License-Identifier: Apache-2.0 */
/* Event lists: what they mean, and what is said where they mean nothing. */

#include "checks.h"

#include "events/spec.h"

static struct spec_list list;
static struct spec_error err;

static int forget(void **state)
{
	spec_free(&list);
	return 0;
}

static void parse(const char *text)
{
	int rc = spec_parse(&list, text, &err);

	if (rc)
		fail_msg("%s: %s; expected %s", text, err.message, err.expected);
}

static const char *or_nothing(const char *text)
{
	return text ? text : "";
}

/* Renders the list in one line: SYS|NAME|FILTER[terms]:MODIFIERS@GROUP=NAME:MODIFIERS{attr}{attr=value};
 * items parted by " ; ". */
static void renders(const char *expected)
{
	char buf[512] = "";
	FILE *out = fmemopen(buf, sizeof(buf), "w");

	assert_non_null(out);
	for (size_t i = 0; i < list.nitems; i++) {
		const struct spec_item *item = &list.items[i];
		const struct spec_group *group = item->group ? &list.groups[item->group - 1] : NULL;

		fprintf(out, "%s%s|%s|%s", i ? " ; " : "", or_nothing(item->sys), item->name, or_nothing(item->filter));
		fprintf(out, "%s%s%s", item->terms ? "[terms]" : "", item->modifiers ? ":" : "", or_nothing(item->modifiers));
		assert_in_range(item->group, 0, list.ngroups);
		if (group)
			fprintf(out, "@%zu%s%s%s%s", item->group, group->name ? "=" : "", or_nothing(group->name),
				group->modifiers ? ":" : "", or_nothing(group->modifiers));
		for (size_t k = 0; k < item->nattrs; k++)
			fprintf(out, "{%s%s%s}", item->attrs[k].name, item->attrs[k].value ? "=" : "", or_nothing(item->attrs[k].value));
	}
	fclose(out);
	assert_string_equal(buf, expected);
}

static const struct {
	const char *text, *means;
} good[] = {
	{ "sched:sched_wakeup", "sched|sched_wakeup|" }, { "profile", "|profile|" }, { "a:b,c:d", "a|b| ; c|d|" },
	{ "a:b,c:d,", "a|b| ; c|d|" }, { " a:b ,\n c:d , ", "a|b| ; c|d|" },
	{ "sched:sched_wakeup/pid>1000/", "sched|sched_wakeup|pid>1000" },
	{ "sched:sched_wakeup/pid>1000", "sched|sched_wakeup|pid>1000" },
	{ "sched:sched_wakeup//stack/", "sched|sched_wakeup|{stack}" },
	{ "sched:sched_wakeup//stack", "sched|sched_wakeup|{stack}" },
	{ "a:b//stack,c:d//stack", "a|b|{stack} ; c|d|{stack}" }, { "a:b/", "a|b|" }, { "a:b//", "a|b|" },
	{ "a:b/ /", "a|b|" }, { "a:b///", "a|b|" }, { "a:b///stack//alias=x/", "a|b|{stack}{alias=x}" },
	{ "a:b/f/stack/max-stack=5/alias=w1/", "a|b|f[terms]{stack}{max-stack=5}{alias=w1}" },
	{ "a:b// stack / alias = w1 / ", "a|b|{stack}{alias=w1}" },
	/* quotes and parentheses protect, and stay */
	{ "a:b/comm==\"x,y/z\"/stack/", "a|b|comm==\"x,y/z\"{stack}" },
	{ "a:b/comm~\"java*\" && prio<10/", "a|b|comm~\"java*\" && prio<10" },
	{ "a:b/comm=='x\"'/", "a|b|comm=='x\"'" }, { "a:b/comm==\"x\\\",\"/,c", "a|b|comm==\"x\\\",\" ; |c|" },
	{ "a:b/(x/2)>1 && f(a,b)/", "a|b|(x/2)>1 && f(a,b)" }, { "a:b/comm==\"(\"/", "a|b|comm==\"(\"" },
	{ "a:b//key=(_cpu<<16)|vec/", "a|b|{key=(_cpu<<16)|vec}" }, { "a:b//key=a==b/", "a|b|{key=a==b}" },
	{ "a:b//comm=ksymbol(function)/", "a|b|{comm=ksymbol(function)}" },
	{ "a:b//printkey=printf(\"%s\",key<10?\"HIGH\":\"LOW\")/", "a|b|{printkey=printf(\"%s\",key<10?\"HIGH\":\"LOW\")}" },
	{ "a:b/\"x\"==comm || comm==\"y\"/", "a|b|\"x\"==comm || comm==\"y\"" },
	/* one quoted string as a whole: the quotes go */
	{ "a:b//top-by=\"runtime/1000\"/", "a|b|{top-by=runtime/1000}" },
	{ "a:b//cpus='0-3,7'/", "a|b|{cpus=0-3,7}" }, { "a:b//alias=\"x y\"/", "a|b|{alias=x y}" },
	{ "uprobe:f/x>1/,uprobe:operator<@\"/x\"", "uprobe|f|x>1 ; uprobe|operator<@\"/x\"|" },
	{ "a:b/x>1,c:d", "a|b|x>1 ; c|d|" }, { "a:b//alias=\"\"/", "a|b|{alias=}" },
	{ "a:b//alias=\"\\\"x\\\\ \\n\"/", "a|b|{alias=\"x\\ \\n}" }, { "a:b/\"x/2>1\"/", "a|b|x/2>1" }, { "a:b/\"\"/", "a|b|" },
	/* names */
	{ "kprobe:f", "kprobe|f|" }, { "kprobe:f//stack/", "kprobe|f|{stack}" },
	{ "uprobe:f@\"/lib/a,b.so\"", "uprobe|f@\"/lib/a,b.so\"|" },
	{ "uretprobe:f@'/a b/c'/x>1/stack/,c:d", "uretprobe|f@'/a b/c'|x>1{stack} ; c|d|" },
	/* paths without quotes */
	{ "uprobe:f@./x", "uprobe|f@./x|" }, { "uprobe:f@/lib/x.so,c:d", "uprobe|f@/lib/x.so| ; c|d|" },
	{ "{uprobe:f@../a/b.so,usdt:a:b@/x/y}", "uprobe|f@../a/b.so|@1 ; usdt|a:b@/x/y|@1" },
	{ "uretprobe:'ns::f(a/b)'@./x//alias=y/", "uretprobe|'ns::f(a/b)'@./x|{alias=y}" },
	{ "uprobe:f@./a/b/", "uprobe|f@./a/b|" }, { "uprobe:f@./a/b/x>1/stack/", "uprobe|f@./a/b|x>1{stack}" },
	{ "uprobe:f@./a/b/(x>1)/stack", "uprobe|f@./a/b|(x>1){stack}" },
	{ "uprobe:f@./a//args=\"n=+0($arg1):string\"/", "uprobe|f@./a|{args=n=+0($arg1):string}" },
	{ "uprobe:f/x>1/,a:b@c/d>1/", "uprobe|f|x>1 ; a|b@c|d>1" },
	{ "uprobe:ns::f(int, char)@\"/x\"", "uprobe|ns::f(int, char)@\"/x\"|" },
	{ "sched:sched_wak*", "sched|sched_wak*|" }, { "sched:sched_[ws]*,?rq:*", "sched|sched_[ws]*| ; ?rq|*|" },
	{ "9p:9p_client_req", "9p|9p_client_req|" }, { "L1-dcache-load-misses,cpu-clock", "|L1-dcache-load-misses| ; |cpu-clock|" },
	{ "a.b:c-d.e_f", "a.b|c-d.e_f|" },
	/* another command as source */
	{ "profile/-F 997 -g/", "|profile|-F 997 -g" },
	{ "task-state/--perins -m 64/alias=t/,page-faults/-N 10/", "|task-state|--perins -m 64{alias=t} ; |page-faults|-N 10" },
	/* terms of perf events: commas belong to them */
	{ "cpu/cpu-cycles/u", "|cpu|cpu-cycles[terms]:u" }, { "cpu/event=0x76,umask=0/", "|cpu|event=0x76,umask=0[terms]" },
	{ "cpu/event=0x76,umask=0/u,cs", "|cpu|event=0x76,umask=0[terms]:u ; |cs|" },
	{ "cpu/event=1,umask=0/:kp/alias=x/", "|cpu|event=1,umask=0[terms]:kp{alias=x}" },
	{ "cpu/event=1/alias=x/,cs", "|cpu|event=1[terms]{alias=x} ; |cs|" },
	{ "cpu/name='a, b/c',any/stack/", "|cpu|name='a, b/c',any[terms]{stack}" }, { "msr/tsc", "|msr|tsc" },
	{ "cpu/mem-loads,any/,cs", "|cpu|mem-loads,any[terms] ; |cs|" }, { "cycles/period=5/", "|cycles|period=5[terms]" },
	{ "cycles:u/freq=99,time=0/", "cycles|u|freq=99,time=0[terms]" },
	{ "cycles/pid==5,cs/x/", "|cycles|pid==5 ; |cs|x[terms]" }, { "cycles//period=5/", "|cycles|{period=5}" },
	{ "cycles//u/period=5/", "|cycles|:u{period=5}" }, { "a:b/x,c:d/y/", "a|b|x ; c|d|y[terms]" },
	{ "a:b/x,c/y/", "a|b|x ; |c|y[terms]" },
	/* groups */
	{ "{cycles,instructions}:S", "|cycles|@1:S ; |instructions|@1:S" },
	{ "{ a , b } , c", "|a|@1 ; |b|@1 ; |c|" }, { "x,{a},{b,c}:uS,y", "|x| ; |a|@1 ; |b|@2:uS ; |c|@2:uS ; |y|" },
	{ "ipc:{a,b}:D", "|a|@1=ipc:D ; |b|@1=ipc:D" },
	{ "{a:b/x>1/,cpu/event=1,umask=2/u}:S", "a|b|x>1@1:S ; |cpu|event=1,umask=2[terms]:u@1:S" },
	{ "{a:b/x>1,c:d//stack}", "a|b|x>1@1 ; c|d|@1{stack}" }, { "{a:b/comm==\"}\"/,c}", "a|b|comm==\"}\"@1 ; |c|@1" },
};

TEST_WITH(lists_mean_what_they_say, NULL, forget)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		parse(good[i].text);
		renders(good[i].means);
		spec_free(&list);
		assert_int_equal(list.nitems, 0);
	}
}

static const struct {
	const char *text;
	size_t at;
	const char *message, *expected;
} bad[] = {
	{ "", 0, "no event", "name of an event" }, { "  ", 2, "no event", "name of an event" },
	{ ",", 0, "empty item", "name of an event" }, { ",a", 0, "empty item", "name of an event" },
	{ "a,,b", 2, "empty item", "name of an event" }, { "a:b//stack/,,", 12, "empty item", "name of an event" },
	{ "/x/", 0, "no event name before", "sys:name" }, { "a,/x/", 2, "no event name before", "sys:name" },
	{ ":b", 0, "nothing before the colon", "sys:name" }, { "a:", 2, "no event name after", "sys:name" },
	{ "a:/x/", 2, "no event name after", "sys:name" }, { "a:b c:d", 4, "space", "\",\" between events" },
	{ "a:b/x==\"y/", 7, "quote is not closed", "same quote" }, { "a:b/x=='y\\'/", 7, "quote is not closed", "same quote" },
	{ "a:b/x==\"y\\", 7, "quote is not closed", "same quote" },
	{ "a:b/\"", 4, "quote is not closed", "same quote" }, { "a:b/(x/", 4, "parenthesis is not closed", "\")\"" },
	{ "a:b/((x)/", 4, "parenthesis is not closed", "\")\"" }, { "a:b/x)/", 5, "closes nothing", "opening" },
	{ "a:b/)(/", 4, "closes nothing", "opening" }, { "a:b//cpus=0-3,7/", 14, "number", "cpus=\"0-3,7\"" },
	{ "a:b//top-by=runtime/1000/", 20, "not an attribute", "quotes" },
	{ "a:b//comm==\"x\"/", 9, "not an attribute", "first slot" },
	{ "a:b//prio<10/", 9, "not an attribute", "first slot" }, { "a:b//=x/", 5, "not an attribute", "word" },
	{ "a:b//alias=/", 11, "without its value", "\"\"" },
	{ "a:b//stack alias=x/", 11, "without a slash", "\"/\"" }, { "a:b/x>1,y<2/", 7, "comma does not join", "&&" },
	{ "a:b/x>1 , y<2/", 8, "comma does not join", "&&" }, { "a:b/x>1,y==\"z\"", 7, "comma does not join", "&&" },
	{ "a:b//alias=,c", 11, "without its value", "\"\"" }, { "{a,b", 0, "group is not closed", "\"}\"" },
	{ "c,{a,b,", 2, "group is not closed", "\"}\"" }, { "{", 0, "not closed", "\"}\"" },
	{ "{}", 1, "empty item", "name of an event" }, { "{a,}", 3, "empty item", "name of an event" },
	{ "{a,{b}}", 3, "a group within a group", "name of an event" }, { "{a}:", 4, "not a modifier", "S" },
	{ "{a}:x", 4, "not a modifier", "S" }, { "{a}:Sx", 5, "unexpected text", "comma" },
	{ "{a}b", 3, "unexpected text", "comma" }, { "{a}}", 3, "unexpected text", "comma" },
};

TEST(mistakes_are_shown_at_their_place)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
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

TEST_WITH(a_mistake_leaves_the_list_as_it_was, NULL, forget)
{
	parse("a:b");
	assert_int_equal(spec_parse(&list, "c:d,e:f,,", NULL), -EINVAL);
	parse("g:h//stack/");
	renders("a|b| ; g|h|{stack}");
	assert_int_equal(list.ntexts, 2);
	assert_string_equal(list.items[0].text, "a:b");
	assert_string_equal(list.items[1].text, "g:h//stack/");
}

TEST_WITH(an_item_knows_its_place, NULL, forget)
{
	const char *text = "a:b , c:d / x>1 / alias = \"y\" /stack/ ,";
	const struct spec_item *item;

	parse(text);
	item = &list.items[1];
	assert_int_equal(list.items[0].len, 3);
	assert_string_equal(text + item->at, "c:d / x>1 / alias = \"y\" /stack/ ,");
	assert_int_equal(item->len, strlen("c:d / x>1 / alias = \"y\" /stack/"));
	assert_memory_equal(text + item->filter_at, "x>1", 3);
	assert_memory_equal(text + item->attrs[0].at, "alias", 5);
	assert_memory_equal(text + item->attrs[0].value_at, "y\"", 2);
	assert_memory_equal(text + item->attrs[1].at, "stack", 5);
	assert_memory_equal(text + item->attrs[1].value_at, "/", 1);
}

TEST_WITH(attributes_are_found_by_name, NULL, forget)
{
	parse("a//stack/alias=x/alias=y/");
	assert_string_equal(spec_attr(&list.items[0], "alias"), "y");
	assert_string_equal(spec_attr(&list.items[0], "stack"), "");
	assert_null(spec_attr(&list.items[0], "stac"));
}

TEST(globs_are_told_from_names)
{
	static const char *const globs[] = { "sched_*", "a?b", "[ab]c", "f*@\"/tmp/x\"" };
	static const char *const names[] = { "sched_wakeup", "f@\"/tmp/*\"", "" };

	for (size_t i = 0; i < COUNT(globs); i++)
		assert_true(spec_is_glob(globs[i]));
	for (size_t i = 0; i < COUNT(names); i++)
		assert_false(spec_is_glob(names[i]));
}

TEST_WITH(a_late_complaint_shows_the_item, NULL, forget)
{
	char buf[512];

	parse("a:b,c:d/x>1/");
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
}

/* A terminal gives two columns to some characters, and none to others. */
TEST(the_caret_counts_columns_not_bytes)
{
	static const struct {
		const char *text, *shown;
		size_t at;
	} rows[] = {
		{ "gr\xc3\xbc\xc3\x9f:\033,,", "gr\xc3\xbc\xc3\x9f:\\x1b,,", 10 },
		{ "\u65e5\u672c:\u00e9,,", "\u65e5\u672c:\u00e9,,", 7 }, { "e\u0301:\U0001f600,,", "e\u0301:\U0001f600,,", 5 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(spec_parse(&list, rows[i].text, &err), -EINVAL);
		assert_string_equal(err.text, rows[i].shown);
		assert_int_equal(err.at, rows[i].at);
	}
}

TEST_WITH(a_place_within_a_filter_is_found_in_the_list, NULL, forget)
{
	static const char *const texts[] = {
		"a:b/x>1/", "a:b,c:d/ x>1 /stack/", "a:b/\"x>1\"/", "a:b/ 'x==\"y\"' /",
		"a:b/\"x==\\\"y\\\" && z~\\\"\\\\*\\\"\"/",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		const struct spec_item *item;

		parse(texts[i]);
		item = &list.items[list.nitems - 1];
		for (size_t k = 0; item->filter[k]; k++)
			assert_int_equal(texts[i][spec_place(item, item->filter_at, k)], item->filter[k]);
		spec_free(&list);
	}
}

TEST(of_a_long_list_the_neighbourhood_is_shown)
{
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

TEST_WITH(the_examples_of_the_manual_are_event_lists, NULL, forget)
{
	static const char *const pages[] = { "events", "sources", "perf-events", "probes" };
	const char *root = getenv("SOURCE_ROOT");
	char path[4096], text[32768], *example;

	if (!root)
		skip();
	for (size_t i = 0, count = 0; i < COUNT(pages); i++, count = 0) {
		snprintf(path, sizeof(path), "%s/docs/%s.md", root, pages[i]);
		FILE *file = fopen(path, "r");
		assert_non_null(file);
		size_t n = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		assert_true(n < sizeof(text) - 1);
		text[n] = '\0';
		for (char *at = text; (example = next_example(&at)); count++)
			parse(example);
		assert_true(count > 2);
	}
}
