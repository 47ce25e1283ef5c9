/* SPDX-License-Identifier: Apache-2.0 */
/* What users type, option by option; help and manual out of the same rows. */
#include "checks.h"

#include "base/command.h"

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
	{ "verbose", 'v', NULL, OPT_COUNT, offsetof(struct config, count), NULL, "Say more.", false, NULL },
	{ "many", 'm', "lots", OPT_STRINGS, offsetof(struct config, many), "TEXT", "Repeatable.", false, NULL },
	{ "call", 'c', NULL, OPT_CALL, offsetof(struct config, called), "TEXT", "Called.", false, parse_call },
	{ "choice", 'C', NULL, OPT_CHOICE, offsetof(struct config, chosen), "one|three[,SIZE]", "Chosen.", false, parse_choice },
};

static const struct opt inner_opts[] = {
	{ "inherit", 0, NULL, OPT_TRI, offsetof(struct inner, tri), NULL, "Three states.", true, NULL },
	{ "number-N", 'N', NULL, OPT_U64, offsetof(struct inner, number), "NUMBER", "It's a \"number\".", false, NULL },
	{ "a-string-with-a-long-name", 's', NULL, OPT_STRING, offsetof(struct inner, last), "TEXT",
	  "The last one wins.", false, NULL },
};

static const struct opt_group groups[] = {
	{ "Outer", outer_opts, COUNT(outer_opts), 0 }, { "Inner", inner_opts, COUNT(inner_opts), offsetof(struct config, inner) },
};

struct run {
	struct config config;
	struct opt_parser p;
	struct fault f;
	int rc;
};

enum { MAX_WORDS = 20 };

static struct run run;

static void finish(void)
{
	opt_strings_free(&run.config.many);
	free(run.p.operands);
	run.p.operands = NULL;
}

static int forget(void **state)
{
	finish();
	return 0;
}

/* Parses the words of a line into `run`, '' is an empty one. */
static int parse_words(enum opt_mode mode, const char *line)
{
	static char *argv[MAX_WORDS + 1], text[400];   /* run.p.words is the first */
	int argc = 0;

	finish();
	memset(argv, 0, sizeof(argv));
	memset(&run, 0, sizeof(run));
	run.p = (struct opt_parser){
		.groups = groups, .ngroups = COUNT(groups), .config = &run.config, .mode = mode,
		.command = "test",
	};
	assert_in_range(snprintf(text, sizeof(text), "%s", line), 0, sizeof(text) - 1);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		assert_true(argc < MAX_WORDS);
		argv[argc++] = strcmp(word, "''") ? word : word + 2;
	}
	return opt_parse(&run.p, argc, argv, &run.f);
}

/* What is not as it is without a word: f, o (flags), vN, m:each;, cN, CN, tN, nN, s:TEXT, h; | and the operands, after
 * -- with its place. */
static const char *meaning(void)
{
	static char text[400];
	const struct config *c = &run.config;
	char *p = text;

	p += sprintf(p, "%s%s", c->flag ? "f " : "", c->other ? "o " : "");
	if (c->count)
		p += sprintf(p, "v%d ", c->count);
	for (size_t i = 0; i < c->many.n; i++)
		p += sprintf(p, "m:%s ", c->many.v[i]);
	if (c->called)
		p += sprintf(p, "c%d ", c->called);
	if (c->chosen)
		p += sprintf(p, "C%d ", c->chosen);
	if (c->inner.tri)
		p += sprintf(p, "t%d ", c->inner.tri);
	if (c->inner.number)
		p += sprintf(p, "n%d ", (int)c->inner.number);
	if (c->inner.last)
		p += sprintf(p, "s:%s ", c->inner.last);
	p += sprintf(p, "%s|", run.p.help ? "h " : "");
	for (int i = 0; i < run.p.noperands; i++)
		p += sprintf(p, " %s", *run.p.operands[i] ? run.p.operands[i] : "''");
	if (run.p.after_dashes >= 0)
		p += sprintf(p, " --%d", run.p.after_dashes);
	assert_null(run.p.operands[run.p.noperands]);
	return text;
}

struct row {
	const char *words, *means;
};

static void check(enum opt_mode mode, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int rc = parse_words(mode, rows[i].words);
		const char *means = rc ? run.f.text : meaning();

		if (rc || strcmp(means, rows[i].means))
			fail_msg("%s\nmeans:    %s\nexpected: %s", rows[i].words, means, rows[i].means);
	}
}

/* The words are refused with a text that has this in it. */
static void refused(enum opt_mode mode, const char *words, const char *part)
{
	if (parse_words(mode, words) != -1 || run.f.exit_code != EXIT_USAGE || !strstr(run.f.text, part))
		fail_msg("%s\nsays:     %s\nexpected: %s", words, run.f.text, part);
}

static void check_refused(enum opt_mode mode, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		refused(mode, rows[i].words, rows[i].means);
}

TEST(values)
{
	static const struct row rows[] = {
		{ "", "|" },
		{ "--flag -vv --verbose --many a -mb --many=c=d --call four --number-N=0x10 -s x -s y --inherit",
		  "f v3 m:a m:b m:c=d c4 t1 n16 s:y |" },
		{ "--flag --no-flag --no-inherit", "t-1 |" }, { "--no-inherit --inherit", "t1 |" },
		{ "--lots x --lots=y", "m:x m:y |" },
		/* values may look like options; two dashes end them */
		{ "--many -f -m --- -m-v --many=-- -s -", "m:-f m:--- m:-v m:-- s:- |" }, { "--many=", "m: |" },
		{ "-fvov -vmx -vN7", "f o v4 m:x n7 |" }, { "-vm next", "v1 m:next |" }, { "-h", "h |" },
		{ "--help file", "h | file" }, { "-vh", "v1 h |" }, { "--many -h", "m:-h |" }, { "-- -h", "| -h --0" },
		/* operands */
		{ "one -f two -m x - ''", "f m:x | one two - ''" },
		{ "one -- -f --many -- two", "| one -f --many -- two --1" }, { "--", "| --0" },
	};

	check(OPT_MODE_PLAIN, rows, COUNT(rows));
	assert_null(run.p.operands[0]);
}

/* The next word is the value only if it begins as one of the choices. */
TEST(a_value_that_may_be_left_out)
{
	static const struct row rows[] = {
		{ "--choice one more", "C4 | more" }, { "--choice three more", "C6 | more" },
		{ "--choice three,12 more", "C9 | more" }, { "--choice one, more", "C5 | more" },
		{ "--choice on more", "C1 | on more" }, { "--choice ones more", "C1 | ones more" },
		{ "--choice SIZE", "C1 | SIZE" }, { "--choice ''", "C1 | ''" }, { "--choice ,", "C1 | ," },
		{ "--choice three[", "C1 | three[" }, { "--choice file", "C1 | file" },
		{ "--choice", "C1 |" }, { "--choice=other", "C6 |" },
		/* so it is by its letter, the last one of a cluster */
		{ "-vC three,12 more", "v1 C9 | more" }, { "-Cv one", "v1 C1 | one" }, { "-C ones", "C1 | ones" },
		{ "-Cv", "v1 C1 |" },
	};

	check(OPT_MODE_PLAIN, rows, COUNT(rows));
	refused(OPT_MODE_PLAIN, "--choice one,bad", "--choice one,bad");
	refused(OPT_MODE_PLAIN, "-C one,bad", "-C one,bad");
}

TEST(what_is_refused)
{
	static const struct row rows[] = {
		{ "--no-other", "--no-other" }, { "--no-verbose", "--no-verbose" },
		{ "--no-", "unknown option --no-" }, { "--no-inherit=1", "--no-inherit takes no value" },
		{ "--no-inherit=1", "\"1\"" }, { "--lot=x", "--lots?" },
		/* two dashes end the options: the value was forgotten */
		{ "-m -- x", "-m needs a value" }, { "--many --", "--many needs a value" },
		{ "-F", "unknown option -F; did you mean -f (--flag)?" }, { "-vF", "unknown option -vF; `" },
		{ "--many", "test:" }, { "--many", "--many needs a value" }, { "--many", "TEXT" },
		{ "-m", "-m needs a value" }, { "-vN", "-N needs a value" }, { "-vN", "NUMBER" },
		{ "--flag=yes", "--flag takes no value" }, { "--flag=yes", "\"yes\"" },
		{ "--verbose=", "--verbose takes no value" }, { "--verbose=", "\"\"" },
		{ "-N seven", "-N seven" }, { "-N seven", "NUMBER" }, { "-N -1", "-N -1" }, { "-N -1", "out of range" },
		{ "-N 99999999999999999999", "out of range" }, { "-N 99999999999999999999", "18446744073709551615" },
		{ "-N=", "-N =" }, { "-N ''", "-N : not a number" },
		{ "--call=bad", "--call bad" }, { "--call=bad", "good one" }, { "-m x -c bad", "-c bad" },
		{ "-c bad --call=good", "-c bad" },   /* the one that is wrong, not a later one */
		{ "one --unknown", "--unknown" },
		/* suggestions */
		{ "--falg", "--flag?" }, { "--verbos", "--verbose?" }, { "--Flag", "--flag?" },
		{ "--may=x", "--many?" }, { "--inhert", "--inherit?" },
		{ "--no-inhert", "did you mean --no-inherit?" }, { "--no-flg", "did you mean --no-flag?" },
		{ "--xyzzy", "`perf-prof test --help-all`" }, { "--no-xyzzy", "`perf-prof test --help-all`" },
		{ "-x", "`perf-prof test --help-all`" }, { "--=x", "unknown option --;" },
		/* an abbreviation is none: a script's own option could be meant */
		{ "--fl", "unknown option --fl" }, { "--numbe", "unknown option --numbe" },
	};
	char word[300] = "--";

	check_refused(OPT_MODE_PLAIN, rows, COUNT(rows));
	memset(word + 2, 'a', sizeof(word) - 3);
	refused(OPT_MODE_PLAIN, word, "unknown option --aaa");
	/* one unknown letter, and none of the cluster counts */
	refused(OPT_MODE_PLAIN, "-vx", "unknown option -vx");
	assert_int_equal(run.config.count, 0);
	refused(OPT_MODE_PLAIN, "-m=a -x", "-x");
	assert_string_equal(run.config.many.v[0], "=a");
}

/* What other code says of an option, it says with its first name. */
TEST(messages_name_it_as_typed)
{
	static const struct {
		const char *words, *text, *named;
	} rows[] = {
		{ "-m x --number-N=7", "--many x: no", "-m x: no" }, { "-m x --number-N=7", "--many: no", "-m: no" },
		{ "-m x --number-N=7", "-N 7: no", "--number-N 7: no" },
		{ "-m x --number-N=7", "--call x: not given", "--call x: not given" },
		{ "-m x --number-N=7", "--many-more x", "--many-more x" },
		{ "-m x --number-N=7", "test: --many x", "test: --many x" },
		{ "--lots=x", "--many x: no", "--lots x: no" }, { "--lots=x", "-m x: no", "--lots x: no" },
		{ "-vfN7 -- --lots", "--number-N 7: no", "-N 7: no" }, { "-vfN7 -- --lots", "--many x: no", "--many x: no" },
		/* a value that looks like an option is none */
		{ "--call -m --many x", "--many x: no", "--many x: no" },
		/* the command's own */
		{ "--many=x cmd -m", "--many x: no", "--many x: no" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(parse_words(i < COUNT(rows) - 1 ? OPT_MODE_PLAIN : OPT_MODE_COMMAND, rows[i].words), 0);
		fault_usage(&run.f, "%s", rows[i].text);
		opt_name_as_typed(&run.p, &run.f);
		assert_string_equal(run.f.text, rows[i].named);
	}
}

/* After the script, ours are ours and what is not goes to the script, in its order. */
TEST(a_script_keeps_its_own)
{
	static const struct row rows[] = {
		{ "-f s.py --threshold 50 -N 3 --depth=4 -x5 -v file -vx --fla -",
		  "f v1 n3 | s.py --threshold 50 --depth=4 -x5 file -vx --fla -" },
		{ "-f -- script.py -v --help", "f | script.py -v --help --0" },
	};
	static const struct row wrong[] = {
		/* before it, a wrong word is a mistake */
		{ "--threshold 50 s.py", "--threshold" }, { "-x s.py", "-x" },
		/* and what is ours is checked wherever it stands */
		{ "s.py -N x", "-N x" }, { "s.py --many", "--many needs a value" }, { "s.py --flag=1", "--flag takes no value" },
	};

	check(OPT_MODE_SCRIPT, rows, COUNT(rows));
	check_refused(OPT_MODE_SCRIPT, wrong, COUNT(wrong));
}

/* ------------------------------------------------------------------------
 * Commands
 */

static const char *const paragraphs[] = { "What it does.", ".dot first, 'quotes' and \\n.", NULL };

static const struct command_example examples[] = {
	{ "perf-prof test -e 'sched:*' \"x\" ~/a^b `c`", "All of it." }, { NULL, NULL },
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
TEST(commands_run_and_release)
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

static void whole_help(const struct command *cmd, FILE *out)
{
	command_help(cmd, true, out);
}

static void short_help(const struct command *cmd, FILE *out)
{
	struct command usual = *cmd;

	usual.usual = "many flag";
	command_help(&usual, false, out);
}

TEST(short_help_has_first_sentences)
{
	char *text = text_of(short_help);

	has(text, "\nOptions that are often used:\n  -m, --many, --lots TEXT     Repeatable.\n  -f, --[no-]flag             A flag.\n\n");
	has(text, examples[0].line);
	has(text, ": perf-prof test-it --help-all. The manual: man perf-prof-test-it\n");
	assert_null(strstr(text, "--inherit"));
	free(text);
}

TEST(help_tells_every_option)
{
	char *text = text_of(whole_help);

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

TEST(the_manual_tells_every_option)
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

AROUND_ALL(NULL, forget)
