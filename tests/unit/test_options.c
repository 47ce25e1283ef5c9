/* SPDX-License-Identifier: Apache-2.0 */
/* What users type, option by option; help and manual out of the same rows. */
#include "cmocka_all.h"

#include "base/command.h"

#include <unistd.h>

struct inner {
	int tri;
	uint64_t number;
	const char *last;
};

struct config {
	bool flag, other;
	int count;
	struct opt_strings many;
	int called;
	struct inner inner;
	int chosen;              /* 1: without a value; else its length and 1 */
};

static int parse_choice(const char *text, void *field, struct fault *f)
{
	if (text && !strcmp(text, "one,bad"))
		return fault_usage(f, "--choice %s: expected another", text);
	*(int *)field = text ? (int)strlen(text) + 1 : 1;
	return 0;
}

static int parse_call(const char *text, void *field, struct fault *f)
{
	if (!strcmp(text, "bad"))
		return fault_usage(f, "--call %s: expected a good one", text);
	*(int *)field = (int)strlen(text);
	return 0;
}

static const struct opt outer_opts[] = {
	{ "flag", 'f', NULL, OPT_FLAG, offsetof(struct config, flag), NULL, "A flag.", true, NULL },
	{ "other", 'o', NULL, OPT_FLAG, offsetof(struct config, other), NULL,
	  "Another one, said in so many words that its help does not fit into a line of the "
	  "screen and has to be wrapped, twice, as far as can be seen from here, or even three "
	  "times.", false, NULL },
	{ "verbose", 'v', NULL, OPT_COUNT, offsetof(struct config, count), NULL, "Say more.",
	  false, NULL },
	{ "many", 'm', "lots", OPT_STRINGS, offsetof(struct config, many), "TEXT",
	  "Repeatable.", false, NULL },
	{ "call", 'c', NULL, OPT_CALL, offsetof(struct config, called), "TEXT", "Called.", false,
	  parse_call },
	{ "choice", 'C', NULL, OPT_CHOICE, offsetof(struct config, chosen), "one|three[,SIZE]", "Chosen.",
	  false, parse_choice },
};

static const struct opt inner_opts[] = {
	{ "inherit", 0, NULL, OPT_TRI, offsetof(struct inner, tri), NULL, "Three states.", true,
	  NULL },
	{ "number-N", 'N', NULL, OPT_U64, offsetof(struct inner, number), "NUMBER",
	  "It's a \"number\".", false, NULL },
	{ "a-string-with-a-long-name", 's', NULL, OPT_STRING, offsetof(struct inner, last), "TEXT",
	  "The last one wins.", false, NULL },
};

static const struct opt_group groups[] = {
	{ "Outer", outer_opts, COUNT(outer_opts), 0 },
	{ "Inner", inner_opts, COUNT(inner_opts), offsetof(struct config, inner) },
};

struct run {
	struct config config;
	struct opt_parser p;
	struct fault f;
	int rc;
};

enum { MAX_WORDS = 16 };

static struct run run;

static void finish(void)
{
	opt_strings_free(&run.config.many);
	free(run.p.operands);
	run.p.operands = NULL;
}

/* Parses the words, which end with NULL, into `run`. */
static int parse_words(enum opt_mode mode, const char *const *words)
{
	static char *argv[MAX_WORDS + 1];   /* run.p.words is this */
	int argc = 0;

	finish();
	memset(argv, 0, sizeof(argv));
	memset(&run, 0, sizeof(run));
	run.p = (struct opt_parser){
		.groups = groups, .ngroups = COUNT(groups), .config = &run.config, .mode = mode,
		.command = "test",
	};
	for (; words[argc]; argc++) {
		assert_true(argc < MAX_WORDS);
		argv[argc] = (char *)words[argc];
	}
	return opt_parse(&run.p, argc, argv, &run.f);
}

#define PLAIN(...) parse_words(OPT_MODE_PLAIN, (const char *const[]){ __VA_ARGS__, NULL })
#define SCRIPT(...) parse_words(OPT_MODE_SCRIPT, (const char *const[]){ __VA_ARGS__, NULL })

static void operands_are_(const char *const *words)
{
	int n = 0;

	for (; words[n]; n++) {
		assert_true(n < run.p.noperands);
		assert_string_equal(run.p.operands[n], words[n]);
	}
	assert_int_equal(run.p.noperands, n);
	assert_null(run.p.operands[n]);
}

#define OPERANDS_ARE(...) operands_are_((const char *const[]){ __VA_ARGS__, NULL })

/* The words were refused with a text that has all of these in it. */
static void refused_(int rc, const char *const *parts)
{
	assert_int_equal(rc, -1);
	assert_int_equal(run.f.exit_code, EXIT_USAGE);
	for (; *parts; parts++)
		if (!strstr(run.f.text, *parts))
			fail_msg("\"%s\" is not in: %s", *parts, run.f.text);
}

#define REFUSED(rc, ...) refused_(rc, (const char *const[]){ __VA_ARGS__, NULL })

static int forget(void **state)
{
	finish();
	return 0;
}

/* ------------------------------------------------------------------------
 * Values
 */

static void nothing_at_all(void **state)
{
	assert_int_equal(parse_words(OPT_MODE_PLAIN, (const char *const[]){ NULL }), 0);
	assert_int_equal(run.p.noperands, 0);
	assert_null(run.p.operands[0]);
	assert_int_equal(run.p.after_dashes, -1);
	assert_false(run.p.help);
}

static void every_kind_of_value(void **state)
{
	assert_int_equal(PLAIN("--flag", "-vv", "--verbose", "--many", "a", "-mb", "--many=c=d",
			       "--call", "four", "--number-N=0x10", "-s", "x", "-s", "y",
			       "--inherit"), 0);
	assert_true(run.config.flag);
	assert_false(run.config.other);
	assert_int_equal(run.config.count, 3);
	assert_int_equal(run.config.many.n, 3);
	assert_string_equal(run.config.many.v[0], "a");
	assert_string_equal(run.config.many.v[1], "b");
	assert_string_equal(run.config.many.v[2], "c=d");
	assert_int_equal(run.config.called, 4);
	assert_int_equal(run.config.inner.number, 16);
	assert_string_equal(run.config.inner.last, "y");
	assert_int_equal(run.config.inner.tri, 1);
	assert_int_equal(run.p.noperands, 0);
}

static void said_no(void **state)
{
	assert_int_equal(PLAIN("--flag", "--no-flag", "--no-inherit"), 0);
	assert_false(run.config.flag);
	assert_int_equal(run.config.inner.tri, -1);
	assert_int_equal(PLAIN("--no-inherit", "--inherit"), 0);
	assert_int_equal(run.config.inner.tri, 1);
	REFUSED(PLAIN("--no-other"), "--no-other");
	REFUSED(PLAIN("--no-verbose"), "--no-verbose");
	REFUSED(PLAIN("--no-"), "unknown option --no-");
	REFUSED(PLAIN("--no-inherit=1"), "--no-inherit takes no value", "\"1\"");
}

static void a_second_name(void **state)
{
	assert_int_equal(PLAIN("--lots", "x", "--lots=y"), 0);
	assert_int_equal(run.config.many.n, 2);
	REFUSED(PLAIN("--lot=x"), "--lots?");
}

static void values_may_look_like_options(void **state)
{
	assert_int_equal(PLAIN("--many", "-f", "-m", "---", "-m-v", "--many=--", "-s", "-"), 0);
	assert_int_equal(run.config.many.n, 4);
	assert_string_equal(run.config.many.v[0], "-f");
	assert_string_equal(run.config.many.v[1], "---");
	assert_string_equal(run.config.many.v[2], "-v");
	assert_string_equal(run.config.many.v[3], "--");
	assert_string_equal(run.config.inner.last, "-");
	assert_false(run.config.flag);
	assert_int_equal(run.config.count, 0);
	/* two dashes end the options: the value was forgotten */
	REFUSED(PLAIN("-m", "--", "x"), "-m needs a value");
	REFUSED(PLAIN("--many", "--"), "--many needs a value");
	assert_int_equal(PLAIN("--many="), 0);
	assert_string_equal(run.config.many.v[0], "");
}

static void clusters(void **state)
{
	assert_int_equal(PLAIN("-fvov", "-vmx", "-vN7"), 0);
	assert_true(run.config.flag && run.config.other);
	assert_int_equal(run.config.count, 4);
	assert_string_equal(run.config.many.v[0], "x");
	assert_int_equal(run.config.inner.number, 7);
	assert_int_equal(PLAIN("-vm", "next"), 0);
	assert_string_equal(run.config.many.v[0], "next");
	/* one unknown letter, and none of the cluster counts */
	REFUSED(PLAIN("-vx"), "unknown option -vx");
	assert_int_equal(run.config.count, 0);
	REFUSED(PLAIN("-F"), "unknown option -F; did you mean -f (--flag)?");
	REFUSED(PLAIN("-vF"), "unknown option -vF; `");
	REFUSED(PLAIN("-m=a", "-x"), "-x");
	assert_string_equal(run.config.many.v[0], "=a");
}

/* The next word is the value only if it begins as one of the choices. */
static void a_value_that_may_be_left_out(void **state)
{
	static const struct {
		const char *word;
		int chosen;
	} rows[] = {
		{ "one", 4 }, { "three", 6 }, { "three,12", 9 }, { "one,", 5 }, { "on", 1 }, { "ones", 1 },
		{ "SIZE", 1 }, { "", 1 }, { ",", 1 }, { "three[", 1 }, { "file", 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(PLAIN("--choice", rows[i].word, "more"), 0);
		assert_int_equal(run.config.chosen, rows[i].chosen);
		assert_int_equal(run.p.noperands, rows[i].chosen == 1 ? 2 : 1);
	}
	assert_int_equal(PLAIN("--choice"), 0);
	assert_int_equal(run.config.chosen, 1);
	assert_int_equal(PLAIN("--choice=other"), 0);
	assert_int_equal(run.config.chosen, 6);
	REFUSED(PLAIN("--choice", "one,bad"), "--choice one,bad");
	/* so it is by its letter, the last one of a cluster */
	assert_int_equal(PLAIN("-vC", "three,12", "more"), 0);
	assert_int_equal(run.config.chosen, 9);
	OPERANDS_ARE("more");
	assert_int_equal(PLAIN("-Cv", "one"), 0);
	assert_int_equal(run.config.chosen, 1);
	OPERANDS_ARE("one");
	assert_int_equal(PLAIN("-C", "ones"), 0);
	assert_int_equal(run.config.chosen, 1);
	OPERANDS_ARE("ones");
	REFUSED(PLAIN("-C", "one,bad"), "-C one,bad");
	assert_int_equal(PLAIN("-Cv"), 0);
	assert_int_equal(run.config.count, 1);
}

static void asking_for_help(void **state)
{
	assert_int_equal(PLAIN("-h"), 0);
	assert_true(run.p.help);
	assert_int_equal(PLAIN("--help", "file"), 0);
	assert_true(run.p.help);
	assert_int_equal(PLAIN("-vh"), 0);
	assert_true(run.p.help);
	assert_int_equal(PLAIN("--many", "-h"), 0);
	assert_false(run.p.help);
	assert_int_equal(PLAIN("--", "-h"), 0);
	assert_false(run.p.help);
}

/* ------------------------------------------------------------------------
 * Refusals
 */

static void values_that_lack_or_are_too_many(void **state)
{
	REFUSED(PLAIN("--many"), "test:", "--many needs a value", "TEXT");
	REFUSED(PLAIN("-m"), "-m needs a value");
	REFUSED(PLAIN("-vN"), "-N needs a value", "NUMBER");
	REFUSED(PLAIN("--flag=yes"), "--flag takes no value", "\"yes\"");
	REFUSED(PLAIN("--verbose="), "--verbose takes no value", "\"\"");
}

static void values_that_are_wrong(void **state)
{
	REFUSED(PLAIN("-N", "seven"), "-N seven", "seven", "NUMBER");
	REFUSED(PLAIN("-N", "-1"), "-N -1", "-1", "out of range");
	REFUSED(PLAIN("-N", "99999999999999999999"), "out of range", "18446744073709551615");
	REFUSED(PLAIN("-N="), "-N =");
	REFUSED(PLAIN("-N", ""), "-N : not a number");
	REFUSED(PLAIN("--call=bad"), "--call bad", "good one");
}

static const char *named(const char *text)
{
	fault_usage(&run.f, "%s", text);
	opt_name_as_typed(&run.p, &run.f);
	return run.f.text;
}

/* What other code says of an option, it says with its first name. */
static void messages_name_it_as_typed(void **state)
{
	assert_int_equal(PLAIN("-m", "x", "--number-N=7"), 0);
	assert_string_equal(named("--many x: no"), "-m x: no");
	assert_string_equal(named("--many: no"), "-m: no");
	assert_string_equal(named("-N 7: no"), "--number-N 7: no");
	assert_string_equal(named("--call x: not given"), "--call x: not given");
	assert_string_equal(named("--many-more x"), "--many-more x");
	assert_string_equal(named("test: --many x"), "test: --many x");
	assert_int_equal(PLAIN("--lots=x"), 0);
	assert_string_equal(named("--many x: no"), "--lots x: no");
	assert_string_equal(named("-m x: no"), "--lots x: no");
	assert_int_equal(PLAIN("-vfN7", "--", "--lots"), 0);
	assert_string_equal(named("--number-N 7: no"), "-N 7: no");
	assert_string_equal(named("--many x: no"), "--many x: no");
	/* a value that looks like an option is none */
	assert_int_equal(PLAIN("--call", "-m", "--many", "x"), 0);
	assert_string_equal(named("--many x: no"), "--many x: no");
	/* the command's own */
	assert_int_equal(parse_words(OPT_MODE_COMMAND, (const char *const[]){ "--many=x", "cmd", "-m", NULL }), 0);
	assert_string_equal(named("--many x: no"), "--many x: no");
	REFUSED(PLAIN("-m", "x", "-c", "bad"), "-c bad");
	/* the one that is wrong, not a later one */
	REFUSED(PLAIN("-c", "bad", "--call=good"), "-c bad");
}

static void unknown_options_suggest(void **state)
{
	static const struct {
		const char *word, *part;
	} rows[] = {
		{ "--falg", "--flag?" }, { "--verbos", "--verbose?" }, { "--Flag", "--flag?" },
		{ "--may=x", "--many?" }, { "--inhert", "--inherit?" },
		{ "--no-inhert", "did you mean --no-inherit?" },
		{ "--no-flg", "did you mean --no-flag?" },
		{ "--xyzzy", "`perf-prof test -h`" }, { "--no-xyzzy", "`perf-prof test -h`" },
		{ "-x", "`perf-prof test -h`" }, { "--=x", "unknown option --;" },
		/* an abbreviation is none: a script's own option could be meant */
		{ "--fl", "unknown option --fl" }, { "--numbe", "unknown option --numbe" },
	};
	char word[300] = "--";

	for (size_t i = 0; i < COUNT(rows); i++)
		REFUSED(PLAIN(rows[i].word), rows[i].part);
	memset(word + 2, 'a', sizeof(word) - 3);
	REFUSED(PLAIN(word), "unknown option --aaa");
}

/* ------------------------------------------------------------------------
 * Operands
 */

static void options_and_operands_in_any_order(void **state)
{
	assert_int_equal(PLAIN("one", "-f", "two", "-m", "x", "-", ""), 0);
	assert_true(run.config.flag);
	OPERANDS_ARE("one", "two", "-", "");
	assert_int_equal(run.p.after_dashes, -1);
	REFUSED(PLAIN("one", "--unknown"), "--unknown");
}

static void dashes_end_options(void **state)
{
	assert_int_equal(PLAIN("one", "--", "-f", "--many", "--", "two"), 0);
	assert_false(run.config.flag);
	OPERANDS_ARE("one", "-f", "--many", "--", "two");
	assert_int_equal(run.p.after_dashes, 1);
	assert_int_equal(PLAIN("--"), 0);
	assert_int_equal(run.p.noperands, 0);
	assert_int_equal(run.p.after_dashes, 0);
	assert_int_equal(SCRIPT("-f", "--", "script.py", "-v", "--help"), 0);
	assert_true(run.config.flag);
	assert_false(run.p.help);
	assert_int_equal(run.config.count, 0);
	OPERANDS_ARE("script.py", "-v", "--help");
}

/* After the script, ours are ours and what is not goes to the script, in its order. */
static void a_script_keeps_its_own(void **state)
{
	assert_int_equal(SCRIPT("-f", "s.py", "--threshold", "50", "-N", "3", "--depth=4", "-x5",
				"-v", "file", "-vx", "--fla", "-"), 0);
	assert_true(run.config.flag);
	assert_int_equal(run.config.inner.number, 3);
	assert_int_equal(run.config.count, 1);
	OPERANDS_ARE("s.py", "--threshold", "50", "--depth=4", "-x5", "file", "-vx", "--fla", "-");
	/* before it, a wrong word is a mistake */
	REFUSED(SCRIPT("--threshold", "50", "s.py"), "--threshold");
	REFUSED(SCRIPT("-x", "s.py"), "-x");
	/* and what is ours is checked wherever it stands */
	REFUSED(SCRIPT("s.py", "-N", "x"), "-N x");
	REFUSED(SCRIPT("s.py", "--many"), "--many needs a value");
	REFUSED(SCRIPT("s.py", "--flag=1"), "--flag takes no value");
}

/* ------------------------------------------------------------------------
 * Commands
 */

static const char *const paragraphs[] = { "What it does.", ".dot first, 'quotes' and \\n.", NULL };

static const struct command_example examples[] = {
	{ "perf-prof test -e 'sched:*' \"x\" ~/a^b `c`", "All of it." },
	{ NULL, NULL },
};

static struct {
	int runs, releases, code;
	bool fails;
	size_t many;
} seen;

static void defaults(void *config)
{
	((struct config *)config)->inner.number = 42;
}

static void release(void *config)
{
	seen.releases++;
	opt_strings_free(&((struct config *)config)->many);
}

static int run_it(void *config, const struct opt_parser *args, struct fault *f)
{
	const struct config *c = config;

	seen.runs++;
	seen.many = c->many.n;
	assert_int_equal(c->inner.number, 42);
	assert_string_equal(args->command, "test-it");
	if (seen.fails)
		return fault_set(f, EXIT_FAILED, "it failed");
	return seen.code;
}

static const struct command command = {
	.name = "test-it", .summary = "is not \"there\" but for tests", .usage = "[options] FILE",
	.description = paragraphs, .groups = groups, .ngroups = COUNT(groups),
	.examples = examples, .mode = OPT_MODE_PLAIN, .config_size = sizeof(struct config),
	.defaults = defaults, .release = release, .run = run_it,
};

/* What a function writes to a stream, read back; stderr is kept away meanwhile. */
static int run_quietly(const char *const *words)
{
	char *argv[MAX_WORDS + 1] = { NULL };
	FILE *nowhere = fopen("/dev/null", "w");
	int argc = 0, kept = dup(STDERR_FILENO), code;

	assert_true(nowhere && kept >= 0);
	for (; words[argc]; argc++)
		argv[argc] = (char *)words[argc];
	dup2(fileno(nowhere), STDERR_FILENO);
	code = command_run(&command, argc, argv, NULL);
	dup2(kept, STDERR_FILENO);
	close(kept);
	fclose(nowhere);
	return code;
}

#define RUN(...) run_quietly((const char *const[]){ __VA_ARGS__, NULL })

/* Whatever happens, what options hold is given back: the leak checker sees. */
static void commands_run_and_release(void **state)
{
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(RUN("-m", "a", "-m", "b", "file"), 0);
	assert_int_equal(seen.many, 2);
	seen.code = 7;
	assert_int_equal(RUN("file"), 7);
	seen.fails = true;
	assert_int_equal(RUN("-m", "a"), EXIT_FAILED);
	assert_int_equal(seen.runs, 3);
	assert_int_equal(RUN("-m", "a", "--bogus"), EXIT_USAGE);
	assert_int_equal(RUN("-m", "a", "-N", "x"), EXIT_USAGE);
	assert_int_equal(seen.runs, 3);
	assert_int_equal(seen.releases, 5);
}

static char *text_of(void (*print)(const struct command *, FILE *))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print(&command, out);
	fclose(out);
	assert_non_null(text);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text ? text : "");
}

static void help_tells_every_option(void **state)
{
	char *text = text_of(command_help);

	has(text, "perf-prof test-it - is not \"there\"");
	has(text, "Usage: perf-prof test-it [options] FILE\n");
	has(text, "\nOuter:\n");
	has(text, "  -f, --[no-]flag             A flag.\n");
	has(text, "      --[no-]inherit          Three states.\n");
	has(text, "  -m, --many, --lots TEXT     Repeatable.\n");
	has(text, "  -s, --a-string-with-a-long-name TEXT\n                              The last");
	has(text, examples[0].line);
	has(text, "man perf-prof-test-it");
	for (const char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true(end - line <= 96);
		assert_true(end == line || end[-1] != ' ');
	}
	free(text);
}

static void the_manual_tells_every_option(void **state)
{
	char *text = text_of(command_man);

	has(text, ".TH PERF-PROF-test-it 1");
	has(text, "perf\\-prof\\-test\\-it \\- is not \\(dqthere\\(dq but for tests\n");
	has(text, ".PP\n\\&.dot first, \\(aqquotes\\(aq and \\en.\n");
	for (size_t g = 0; g < COUNT(groups); g++)
		for (size_t i = 0; i < groups[g].nopts; i++) {
			const struct opt *o = &groups[g].opts[i];
			char head[64], *p = head;

			for (const char *c = o->name; *c; c++)
				p += sprintf(p, *c == '-' ? "\\-" : "%c", *c);
			has(text, head);
		}
	has(text, "It\\(aqs a \\(dqnumber\\(dq.\n");
	has(text, "\\-e \\(aqsched:*\\(aq \\(dqx\\(dq \\(ti/a\\(hab \\(gac\\(ga\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(every_kind_of_value),
		cmocka_unit_test(said_no),
		cmocka_unit_test(a_second_name),
		cmocka_unit_test(values_may_look_like_options),
		cmocka_unit_test(clusters),
		cmocka_unit_test(a_value_that_may_be_left_out),
		cmocka_unit_test(asking_for_help),
		cmocka_unit_test(values_that_lack_or_are_too_many),
		cmocka_unit_test(values_that_are_wrong),
		cmocka_unit_test(messages_name_it_as_typed),
		cmocka_unit_test(unknown_options_suggest),
		cmocka_unit_test(options_and_operands_in_any_order),
		cmocka_unit_test(dashes_end_options),
		cmocka_unit_test(a_script_keeps_its_own),
		cmocka_unit_test(commands_run_and_release),
		cmocka_unit_test(help_tells_every_option),
		cmocka_unit_test(the_manual_tells_every_option),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
