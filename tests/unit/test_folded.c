/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks: summed, sorted, bounded, read again; pictures by suffix. */
#include "checks.h"
#include "tree.h"

#include "report/flame.h"

#include <json-c/json.h>

static struct folded *f;

static int set_up(void **state)
{
	f = folded_new();
	return 0;
}

static int tear_down(void **state)
{
	folded_free(f);
	return 0;
}

#define FOLDED(name) TEST_WITH(name, set_up, tear_down)

static void add_names(const char *const *names, size_t n, enum folded_order order, uint64_t weight)
{
	uint32_t frames[8];

	for (size_t i = 0; i < n; i++)
		frames[i] = folded_frame(f, names[i], FOLDED_USER);
	folded_add(f, frames, n, order, weight);
}

static void add(uint64_t weight, const char *a, const char *b, const char *c)
{
	const char *names[] = { a, b, c };
	size_t n = c ? 3 : b ? 2 : a ? 1 : 0;

	add_names(names, n, FOLDED_ROOT_FIRST, weight);
}

static size_t count_of(void)
{
	size_t n;

	free(folded_stacks(f, &n));
	return n;
}

static char *text_of(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(folded_print(f, out), 0);
	fclose(out);
	return text;
}

static void is(const char *want)
{
	char *text = text_of();

	assert_string_equal(text, want);
	free(text);
}

FOLDED(same_stacks_are_one)
{
	static const char *const leaf_first[] = { "read", "run", "main" };

	add(1, "main", "run", "write");
	add(2, "main", "run", "read");
	add(3, "main", "run", NULL);
	add(4, "init", NULL, NULL);
	add_names(leaf_first, 3, FOLDED_LEAF_FIRST, 40);
	add(5, NULL, NULL, NULL);
	is("[unknown] 5\ninit 4\nmain;run 3\nmain;run;read 42\nmain;run;write 1\n");
	ARE(NUMBERS(folded_total(f), count_of()), NUMBERS(55, 5));
}

FOLDED(frames_have_kinds)
{
	uint32_t user = folded_frame(f, "read", FOLDED_USER);
	uint32_t kernel = folded_frame(f, "read", FOLDED_KERNEL);

	assert_int_not_equal(user, kernel);
	assert_int_equal(folded_frame(f, "read", FOLDED_USER), user);
	assert_int_equal(folded_frame(f, "read", FOLDED_KERNEL), kernel);
	assert_int_equal(folded_frame_kind(f, kernel), FOLDED_KERNEL);
	assert_string_equal(folded_frame_name(f, kernel), "read");
	assert_string_equal(folded_frame_name(f, 12345), "[lost]");
	assert_string_equal(folded_frame_name(f, folded_frame(f, NULL, FOLDED_UNKNOWN)), "[unknown]");
}

FOLDED(hostile_names)
{
	add(1, "a;b", "\033[2J\n", "\xff</script>");
	is("a:b;\\x1b[2J\\x0a;\\xff</script> 1\n");
}

FOLDED(intervals_are_roots)
{
	folded_interval(f, "10:30:45");
	add(1, "main", NULL, NULL);
	folded_interval(f, "10:30:46");
	add(2, "main", NULL, NULL);
	folded_interval(f, NULL);
	add(3, "main", NULL, NULL);
	is("10:30:45;main 1\n10:30:46;main 2\nmain 3\n");
}

FOLDED(memory_is_bounded_and_the_sum_stays)
{
	char *text, *save = NULL;
	uint64_t seen = 0;

	folded_limit(f, 100000);
	for (int i = 0; i < 10000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		add(1, "main", name, NULL);
	}
	assert_true(count_of() > 100 && count_of() < 1200);
	assert_int_equal(folded_total(f), 10000);
	assert_int_equal(folded_overflow(f) + count_of(), 10000);
	text = text_of();
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		seen += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	assert_int_equal(seen, 10000);
	free(text);
}

FOLDED(deep_stacks_are_cut_at_the_leaf)
{
	static uint32_t frames[100000];
	struct folded_stack *stacks;
	size_t n;

	for (size_t i = 0; i < COUNT(frames); i++)
		frames[i] = folded_frame(f, i % 2 ? "odd" : "even", FOLDED_USER);
	folded_add(f, frames, COUNT(frames), FOLDED_ROOT_FIRST, 1);
	stacks = folded_stacks(f, &n);
	ARE(NUMBERS(n, stacks[0].n), NUMBERS(1, 1025));
	assert_string_equal(folded_frame_name(f, stacks[0].frames[0]), "even");
	assert_string_equal(folded_frame_name(f, stacks[0].frames[1024]), "[...]");
	free(stacks);
}

/* ---- files ---------------------------------------------------------------------------- */

static char *folder;
static char path[300];

static const char *at(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

FOLDED(reads_what_it_wrote)
{
	struct fault fault = { 0 };

	tree_put(folder, "in.folded", "PERFILE2;run 1\nmain;run 3\nmain;std::map<int, int>::at 4\r\n\nmain;sys_read_[k] 5");
	assert_int_equal(folded_read_from(f, open(at("in.folded"), O_RDONLY), at("in.folded"), &fault), 0);
	is("PERFILE2;run 1\nmain;run 3\nmain;std::map<int, int>::at 4\nmain;sys_read 5\n");   /* a name that a recording begins with */
	assert_int_equal(folded_frame_kind(f, folded_frame(f, "sys_read", FOLDED_KERNEL)), FOLDED_KERNEL);
}

TEST(reads_nothing_else)
{
	static const char *const bad[] = { "main\n", "main;run x\n", " 3\n", "main 3x\n", "main -3\n",
					   "main 99999999999999999999999\n", "ok 1\n\001\002 \n" };

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct folded *none = folded_new();
		struct fault fault = { 0 };

		tree_put(folder, "bad.folded", bad[i]);
		assert_int_equal(folded_read_from(none, open(at("bad.folded"), O_RDONLY), at("bad.folded"), &fault), -1);
		assert_non_null(strstr(fault.text, i == COUNT(bad) - 1 ? "bad.folded:2: expected" : "bad.folded:1: expected"));
		folded_free(none);
	}
}

FOLDED(no_sum_wraps)
{
	struct fault fault = { 0 };

	tree_put(folder, "large.folded", "main 18446744073709551615\nmain 0\nidle 1\n");
	assert_int_equal(folded_read_from(f, open(at("large.folded"), O_RDONLY), at("large.folded"), &fault), -1);
	assert_non_null(strstr(fault.text, "large.folded:3: the numbers up to here add up to more than "
					   "18446744073709551615"));
	add(2, "idle", NULL, NULL);
	assert_int_equal(folded_total(f), UINT64_MAX);
	is("main 18446744073709551615\n");
}

static void add_sample(void)
{
	add(30, "main", "run", "read");
	add(60, "main", "run", "write<a&b>\"\\n");
	add(10, "main", "idle", NULL);
}

static char *picture(const char *name, const char *before)
{
	char file[300], old[300];
	struct flame_config c = { file, before ? old : NULL };
	struct fault fault = { 0 };

	snprintf(file, sizeof(file), "%s", at(name));
	if (before)
		snprintf(old, sizeof(old), "%s", at(before));
	assert_int_equal(flame_check(&c, -1, &fault), 0);
	assert_int_equal(flame_write(&c, f, &(struct flame_title){ "a <title>", "samples" }, &fault), 0);
	return tree_get(folder, name);
}

FOLDED(the_suffix_says_the_kind)
{
	struct fault fault = { 0 };
	char *text, file[300];

	add_sample();
	text = picture("plain.folded", NULL);
	assert_string_equal(text, "main;idle 10\nmain;run;read 30\nmain;run;write<a&b>\"\\n 60\n");
	free(text);
	text = picture("x.svg", NULL);
	SAYS(text, "<title>write&lt;a&amp;b&gt;&quot;\\n (60 samples, 60.00%)</title>", "a &lt;title&gt;");
	assert_null(strstr(text, "write<"));
	free(text);
	/* no suffix: one is added */
	snprintf(file, sizeof(file), "%s", at("none.1"));
	assert_int_equal(flame_write(&(struct flame_config){ file }, f, &(struct flame_title){ 0 }, &fault), 0);
	text = tree_get(folder, "none.1.folded");
	SAYS(text, "main;idle 10\n");
	free(text);
}

FOLDED(speedscope)
{
	json_object *root, *o, *shared, *frames, *samples, *weights;
	uint64_t sum = 0;
	char *text;

	add_sample();
	text = picture("x.speedscope.json", NULL);
	root = json_tokener_parse(text);
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
	assert_string_equal(json_object_get_string(o), "write<a&b>\"\\n");
	json_object_put(root);
	free(text);
}

FOLDED(differences)
{
	char *text;

	add_sample();
	tree_put(folder, "before.folded", "main;run;read 30\nmain;idle 30\n");
	text = picture("d.svg", "before.folded");
	assert_non_null(strstr(text, "<title>read (30 samples, 30.00%; -20.00 points)</title>"));
	assert_non_null(strstr(text, "<title>main (100 samples, 100.00%; +0.00 points)</title>"));
	assert_non_null(strstr(text, "<title>idle (10 samples, 10.00%; -40.00 points)</title>"));
	free(text);
}

/* A file does not show that main is a program, or that read is a function of the kernel here and inlined there. */
FOLDED(kinds_do_not_matter_to_a_file)
{
	const uint32_t kernel[] = { folded_frame(f, "job", FOLDED_TASK), folded_frame(f, "read", FOLDED_KERNEL) };
	const uint32_t inlined[] = { kernel[0], folded_frame(f, "read", FOLDED_INLINED) };
	char *text;

	folded_add(f, kernel, 2, FOLDED_ROOT_FIRST, 30);
	folded_add(f, inlined, 2, FOLDED_ROOT_FIRST, 20);
	tree_put(folder, "before.folded", "job;read 4\njob;write 1\n");
	text = picture("k.svg", "before.folded");
	assert_non_null(strstr(text, "<title>job (50 samples, 100.00%; +0.00 points)</title>"));
	assert_non_null(strstr(text, "<title>read (50 samples, 100.00%; +20.00 points)</title>"));
	free(text);
}

TEST(what_can_not_be_is_told_before)
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
		{ { "", NULL }, EXIT_USAGE, "\"\": expected the name of a file" }, { { "/tmp/monday.1", NULL }, 0, "" },
		{ { "-", NULL }, 0, "" }, { { "/dev/null", NULL }, 0, "" }, { { "/dev/stdout", NULL }, 0, "" },
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

TEST(html_that_was_not_built_in_says_how)
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

FOLDED(empty_pictures)
{
	char *text = picture("empty.svg", NULL);

	assert_non_null(strstr(text, "</svg>"));
	free(text);
	free(picture("empty.speedscope.json", NULL));
	is("");
}

static int make_folder(void **state)
{
	folder = tree_new();
	return 0;
}

static int remove_folder(void **state)
{
	tree_free(folder);
	return 0;
}

AROUND_ALL(make_folder, remove_folder)
