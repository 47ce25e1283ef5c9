/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks: summed, sorted, bounded, read again; pictures by suffix. */
#include "cmocka_all.h"

#include "report/flame.h"

#include <json-c/json.h>
#include <unistd.h>

static void add_names(struct folded *f, const char *const *names, size_t n, enum folded_order order, uint64_t weight)
{
	uint32_t frames[8];

	for (size_t i = 0; i < n; i++)
		frames[i] = folded_frame(f, names[i], FOLDED_USER);
	folded_add(f, frames, n, order, weight);
}

static void add(struct folded *f, uint64_t weight, const char *a, const char *b, const char *c)
{
	const char *names[] = { a, b, c };
	size_t n = c ? 3 : b ? 2 : a ? 1 : 0;

	add_names(f, names, n, FOLDED_ROOT_FIRST, weight);
}

static size_t count_of(const struct folded *f)
{
	size_t n;

	free(folded_stacks(f, &n));
	return n;
}

static char *text_of(const struct folded *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(folded_print(f, out), 0);
	fclose(out);
	return text;
}

static void is(const struct folded *f, const char *want)
{
	char *text = text_of(f);

	assert_string_equal(text, want);
	free(text);
}

static void same_stacks_are_one(void **state)
{
	static const char *const leaf_first[] = { "read", "run", "main" };
	struct folded *f = folded_new();

	add(f, 1, "main", "run", "write");
	add(f, 2, "main", "run", "read");
	add(f, 3, "main", "run", NULL);
	add(f, 4, "init", NULL, NULL);
	add_names(f, leaf_first, 3, FOLDED_LEAF_FIRST, 40);
	add(f, 5, NULL, NULL, NULL);
	is(f, "[unknown] 5\ninit 4\nmain;run 3\nmain;run;read 42\nmain;run;write 1\n");
	assert_int_equal(folded_total(f), 55);
	assert_int_equal(count_of(f), 5);
	folded_free(f);
}

static void frames_have_kinds(void **state)
{
	struct folded *f = folded_new();
	uint32_t user = folded_frame(f, "read", FOLDED_USER);
	uint32_t kernel = folded_frame(f, "read", FOLDED_KERNEL);

	assert_int_not_equal(user, kernel);
	assert_int_equal(folded_frame(f, "read", FOLDED_USER), user);
	assert_int_equal(folded_frame_kind(f, kernel), FOLDED_KERNEL);
	assert_string_equal(folded_frame_name(f, kernel), "read");
	assert_string_equal(folded_frame_name(f, 12345), "[lost]");
	assert_string_equal(folded_frame_name(f, folded_frame(f, NULL, FOLDED_UNKNOWN)), "[unknown]");
	folded_free(f);
}

static void hostile_names(void **state)
{
	struct folded *f = folded_new();

	add(f, 1, "a;b", "\033[2J\n", "\xff</script>");
	is(f, "a:b;\\x1b[2J\\x0a;\\xff</script> 1\n");
	folded_free(f);
}

static void intervals_are_roots(void **state)
{
	struct folded *f = folded_new();

	folded_interval(f, "10:30:45");
	add(f, 1, "main", NULL, NULL);
	folded_interval(f, "10:30:46");
	add(f, 2, "main", NULL, NULL);
	folded_interval(f, NULL);
	add(f, 3, "main", NULL, NULL);
	is(f, "10:30:45;main 1\n10:30:46;main 2\nmain 3\n");
	folded_free(f);
}

static void memory_is_bounded_and_the_sum_stays(void **state)
{
	struct folded *f = folded_new();
	char *text, *save = NULL;
	uint64_t seen = 0;

	folded_limit(f, 100000);
	for (int i = 0; i < 10000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		add(f, 1, "main", name, NULL);
	}
	assert_true(count_of(f) > 100 && count_of(f) < 1200);
	assert_int_equal(folded_total(f), 10000);
	assert_int_equal(folded_overflow(f) + count_of(f), 10000);
	text = text_of(f);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		seen += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	assert_int_equal(seen, 10000);
	free(text);
	folded_free(f);
}

static void deep_stacks_are_cut_at_the_leaf(void **state)
{
	static uint32_t frames[100000];
	struct folded *f = folded_new();
	struct folded_stack *stacks;
	size_t n;

	for (size_t i = 0; i < COUNT(frames); i++)
		frames[i] = folded_frame(f, i % 2 ? "odd" : "even", FOLDED_USER);
	folded_add(f, frames, COUNT(frames), FOLDED_ROOT_FIRST, 1);
	stacks = folded_stacks(f, &n);
	assert_int_equal(n, 1);
	assert_int_equal(stacks[0].n, 1025);
	assert_string_equal(folded_frame_name(f, stacks[0].frames[0]), "even");
	assert_string_equal(folded_frame_name(f, stacks[0].frames[1024]), "[...]");
	free(stacks);
	folded_free(f);
}

/* ---- files ---------------------------------------------------------------------------- */

static char folder[] = "/tmp/test-folded-XXXXXX";
static char path[300];

static const char *at(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put_file(const char *name, const char *text)
{
	FILE *out = fopen(at(name), "w");

	fputs(text, out);
	fclose(out);
}

static char *contents(const char *name)
{
	FILE *in = fopen(at(name), "r");
	char *text = calloc(1, 1 << 20);

	assert_non_null(in);
	assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
	fclose(in);
	return text;
}

static void reads_what_it_wrote(void **state)
{
	struct folded *f = folded_new();
	struct fault fault = { 0 };

	put_file("in.folded", "PERFILE2;run 1\nmain;run 3\nmain;std::map<int, int>::at 4\r\n\nmain;sys_read_[k] 5");
	assert_int_equal(folded_read(f, at("in.folded"), &fault), 0);
	is(f, "PERFILE2;run 1\nmain;run 3\nmain;std::map<int, int>::at 4\nmain;sys_read 5\n");   /* a name that a recording begins with */
	assert_int_equal(folded_frame_kind(f, folded_frame(f, "sys_read", FOLDED_KERNEL)), FOLDED_KERNEL);
	folded_free(f);
}

static void reads_nothing_else(void **state)
{
	static const char *const bad[] = { "main\n", "main;run x\n", " 3\n", "main 3x\n", "main -3\n",
					   "main 99999999999999999999999\n", "ok 1\n\001\002 \n" };

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct folded *f = folded_new();
		struct fault fault = { 0 };

		put_file("bad.folded", bad[i]);
		assert_int_equal(folded_read(f, at("bad.folded"), &fault), -1);
		assert_non_null(strstr(fault.text, i == COUNT(bad) - 1 ? "bad.folded:2: expected"
								       : "bad.folded:1: expected"));
		folded_free(f);
	}
}

static void no_sum_wraps(void **state)
{
	struct folded *f = folded_new();
	struct fault fault = { 0 };

	put_file("large.folded", "main 18446744073709551615\nmain 0\nidle 1\n");
	assert_int_equal(folded_read(f, at("large.folded"), &fault), -1);
	assert_non_null(strstr(fault.text, "large.folded:3: the numbers up to here add up to more than "
					   "18446744073709551615"));
	add(f, 2, "idle", NULL, NULL);
	assert_int_equal(folded_total(f), UINT64_MAX);
	is(f, "main 18446744073709551615\n");
	folded_free(f);
}

static struct folded *sample(void)
{
	struct folded *f = folded_new();

	add(f, 30, "main", "run", "read");
	add(f, 60, "main", "run", "write<a&b>");
	add(f, 10, "main", "idle", NULL);
	return f;
}

static char *picture(struct folded *f, const char *name, const char *before)
{
	char file[300], old[300];
	struct flame_config c = { file, before ? old : NULL };
	struct fault fault = { 0 };

	snprintf(file, sizeof(file), "%s", at(name));
	if (before)
		snprintf(old, sizeof(old), "%s", at(before));
	assert_int_equal(flame_check(&c, -1, &fault), 0);
	assert_int_equal(flame_write(&c, f, &(struct flame_title){ "a <title>", "samples" }, &fault), 0);
	return contents(name);
}

static void the_suffix_says_the_kind(void **state)
{
	struct folded *f = sample();
	char *text = picture(f, "plain.folded", NULL);

	assert_string_equal(text, "main;idle 10\nmain;run;read 30\nmain;run;write<a&b> 60\n");
	free(text);
	text = picture(f, "x.svg", NULL);
	assert_non_null(strstr(text, "<title>write&lt;a&amp;b&gt; (60 samples, 60.00%)</title>"));
	assert_non_null(strstr(text, "a &lt;title&gt;"));
	assert_null(strstr(text, "write<"));
	free(text);
	/* no suffix: one is added */
	{
		char file[300];
		struct flame_config c = { file };
		struct fault fault = { 0 };

		snprintf(file, sizeof(file), "%s", at("none.1"));
		assert_int_equal(flame_write(&c, f, &(struct flame_title){ 0 }, &fault), 0);
		text = contents("none.1.folded");
		assert_non_null(strstr(text, "main;idle 10\n"));
		free(text);
	}
	folded_free(f);
}

static void speedscope(void **state)
{
	struct folded *f = sample();
	char *text = picture(f, "x.speedscope.json", NULL);
	json_object *root = json_tokener_parse(text), *o, *shared, *frames, *samples, *weights;
	uint64_t sum = 0;

	assert_true(json_object_object_get_ex(root, "shared", &shared));
	assert_true(json_object_object_get_ex(shared, "frames", &frames));
	assert_true(json_object_object_get_ex(root, "profiles", &o));
	o = json_object_array_get_idx(o, 0);
	assert_true(json_object_object_get_ex(o, "samples", &samples));
	assert_true(json_object_object_get_ex(o, "weights", &weights));
	assert_int_equal(json_object_array_length(samples), 3);
	for (size_t i = 0; i < 3; i++)
		sum += json_object_get_uint64(json_object_array_get_idx(weights, i));
	assert_int_equal(sum, 100);
	/* the last stack's leaf */
	o = json_object_array_get_idx(samples, 2);
	o = json_object_array_get_idx(o, 2);
	o = json_object_array_get_idx(frames, (size_t)json_object_get_int(o));
	assert_true(json_object_object_get_ex(o, "name", &o));
	assert_string_equal(json_object_get_string(o), "write<a&b>");
	json_object_put(root);
	free(text);
	folded_free(f);
}

static void differences(void **state)
{
	struct folded *f = sample();
	char *text;

	put_file("before.folded", "main;run;read 30\nmain;idle 30\n");
	text = picture(f, "d.svg", "before.folded");
	assert_non_null(strstr(text, "<title>read (30 samples, 30.00%; -20.00 points)</title>"));
	assert_non_null(strstr(text, "<title>main (100 samples, 100.00%; +0.00 points)</title>"));
	assert_non_null(strstr(text, "<title>idle (10 samples, 10.00%; -40.00 points)</title>"));
	free(text);
	folded_free(f);
}

/* A file does not show that main is a program, or that read is a function of the kernel here and inlined there. */
static void kinds_do_not_matter_to_a_file(void **state)
{
	struct folded *f = folded_new();
	const uint32_t kernel[] = { folded_frame(f, "job", FOLDED_TASK), folded_frame(f, "read", FOLDED_KERNEL) };
	const uint32_t inlined[] = { kernel[0], folded_frame(f, "read", FOLDED_INLINED) };
	char *text;

	folded_add(f, kernel, 2, FOLDED_ROOT_FIRST, 30);
	folded_add(f, inlined, 2, FOLDED_ROOT_FIRST, 20);
	put_file("before.folded", "job;read 4\njob;write 1\n");
	text = picture(f, "k.svg", "before.folded");
	assert_non_null(strstr(text, "<title>job (50 samples, 100.00%; +0.00 points)</title>"));
	assert_non_null(strstr(text, "<title>read (50 samples, 100.00%; +20.00 points)</title>"));
	free(text);
	folded_free(f);
}

static void what_can_not_be_is_told_before(void **state)
{
	static const struct {
		struct flame_config config;
		int exit_code;
		const char *text;
	} rows[] = {
		{ { NULL, "x" }, EXIT_USAGE, "--flame-graph-before x needs --flame-graph" },
		{ { "/tmp/x.folded", "/dev/null" }, EXIT_USAGE, "/tmp/x.folded: only .svg and .html can show the change since /dev/null" },
		{ { "/nonexistent/x.svg", NULL }, EXIT_FAILED, "/nonexistent/x.svg: No such file" },
		{ { "/tmp", NULL }, EXIT_USAGE, "/tmp: is a folder; expected a file, whose name ends in one of "
						".folded, .svg, .html, .speedscope.json" },
		{ { "no/such/folder/", NULL }, EXIT_USAGE, "no/such/folder/: is a folder" },
		{ { "x.png", NULL }, EXIT_USAGE, "x.png: perf-prof does not write .png; expected a name that ends in one of" },
		{ { "x.SVG", NULL }, EXIT_USAGE, "x.SVG: perf-prof does not write .SVG" },
		{ { "x.csv", NULL }, EXIT_USAGE, "x.csv: perf-prof does not write .csv" },
		{ { "--", NULL }, EXIT_USAGE, "\"--\": expected the name of a file" },
		{ { "-q", NULL }, EXIT_USAGE, "\"-q\": expected the name of a file" },
		{ { "", NULL }, EXIT_USAGE, "\"\": expected the name of a file" },
		{ { "/tmp/monday.1", NULL }, 0, "" },
		{ { "-", NULL }, 0, "" },
		{ { "/dev/null", NULL }, 0, "" },
		{ { "/dev/stdout", NULL }, 0, "" },
		{ { NULL, NULL }, 0, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct flame_config config = rows[i].config;
		struct fault fault = { 0 };

		assert_int_equal(flame_check(&config, -1, &fault), rows[i].exit_code ? -1 : 0);
		assert_int_equal(fault.exit_code, rows[i].exit_code);
		assert_non_null(strstr(fault.text, rows[i].text));
	}
}

static void html_that_was_not_built_in_says_how(void **state)
{
	struct flame_config config = { "/tmp/x.html", NULL };
	struct fault fault = { 0 };

	if (flame_has_html()) {
		print_message("# skip: .html is built in\n");
		skip();
	}
	assert_int_equal(flame_check(&config, -1, &fault), -1);
	assert_int_equal(fault.exit_code, EXIT_USAGE);
	assert_non_null(strstr(fault.text, "built without .html; `make html` in its sources"));
}

static void empty_pictures(void **state)
{
	struct folded *f = folded_new();
	char *text = picture(f, "empty.svg", NULL);

	assert_non_null(strstr(text, "</svg>"));
	free(text);
	free(picture(f, "empty.speedscope.json", NULL));
	is(f, "");
	folded_free(f);
}

static int make_folder(void **state)
{
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	char command[400];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_stacks_are_one),
		cmocka_unit_test(frames_have_kinds),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(intervals_are_roots),
		cmocka_unit_test(memory_is_bounded_and_the_sum_stays),
		cmocka_unit_test(deep_stacks_are_cut_at_the_leaf),
		cmocka_unit_test(reads_what_it_wrote),
		cmocka_unit_test(reads_nothing_else),
		cmocka_unit_test(no_sum_wraps),
		cmocka_unit_test(the_suffix_says_the_kind),
		cmocka_unit_test(speedscope),
		cmocka_unit_test(differences),
		cmocka_unit_test(kinds_do_not_matter_to_a_file),
		cmocka_unit_test(what_can_not_be_is_told_before),
		cmocka_unit_test(html_that_was_not_built_in_says_how),
		cmocka_unit_test(empty_pictures),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
