/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof stat: its options, and which of them can be combined. */
#include "stat/stat.h"

#include "base/descriptors.h"
#include "base/note.h"
#include "base/units.h"
#include "stat/commands.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void stat_input_begin(struct stat_input *in)
{
	struct stat st;
	const bool open = !fstat(STDIN_FILENO, &st);

	*in = (struct stat_input){ .start = open && S_ISREG(st.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1,
				   .is_stream = open && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) };
}

void stat_input_rewind(const struct stat_input *in)
{
	if (in->start >= 0)
		lseek(STDIN_FILENO, in->start, SEEK_SET);
}

void stat_input_tell(struct stat_input *in)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	if (!in->is_stream || poll(&p, 1, 0) <= 0)
		return;
	in->is_stream = false;   /* said once */
	note(1, "stdin is a pipe, and each run reads what the runs before it have left, which may be nothing: give all runs the same file "
	     "(< FILE)");
}

/* ---- options ------------------------------------------------------------------- */

static int parse_separator(const char *text, void *field, struct fault *f)
{
	if (strlen(text) != 1 || strchr("\"\n\r", text[0]))
		return fault_usage(f, "--field-separator %s: expected one character, such as ;", text);
	*(const char **)field = text;
	return 0;
}

static int parse_confidence(const char *text, void *field, struct fault *f)
{
	return opt_percent(text, "--confidence", 50, 99.99, field, f);
}

#define AT(member) offsetof(struct stat_config, member)

static const struct opt event_opts[] = {
	{ "event", 'e', NULL, OPT_STRINGS, AT(events), "EVENT[,EVENT...]",
	  "Select events, written as for perf stat: names, sys:name, pmu/terms/, rNNN, modifiers (:u), "
	  "{groups}. Repeatable. Default: task-clock, context-switches, cpu-migrations, "
	  "page-faults, cycles, instructions, branches, branch-misses, and the stalled cycles that "
	  "this CPU counts.", false, NULL },
	{ "detailed", 'd', NULL, OPT_COUNT, AT(detail), NULL,
	  "Add loads and misses of the L1 data and last-level caches; -dd: also of the L1 instruction "
	  "cache and the TLBs; -ddd: also prefetches.", false, NULL },
};

static const struct opt measure_opts[] = {
	{ "all-cpus", 'a', NULL, OPT_FLAG, AT(all_cpus), NULL,
	  "Watch the whole machine, even with a command. This is the default without a command or a "
	  "target.", false, NULL },
	{ "repeat", 'r', NULL, OPT_U64, AT(runs), "N",
	  "Run the command N times, and print means +- their standard error (JSON and CSV: also the "
	  "standard deviation of the runs).", .least = 1, .most = 1000000, .expected = "a number of runs from 1 to 1000000" },
	{ "warmup", 0, NULL, OPT_U64, AT(warmup), "N",
	  "Run the command (with --vs: both) N times before the runs that are counted, so that files are in memory. Default: 0.",
	  .most = 1000000, .expected = "a number of runs from 0 to 1000000" },
	{ "vs", 0, NULL, OPT_STRINGS, AT(vs), "COMMAND",
	  "Compare with COMMAND: run both in turns, N times each (-r; default: 10), and print the "
	  "difference of the means, also of ratios such as instructions per cycle, with its confidence "
	  "interval. The lines below the table say which is faster and which takes less CPU time, how sure that is, and how to find "
	  "where the difference is; the rows `user`, `sys`, `asleep` and `waiting for CPU` show whether the time is spent in the "
	  "program, in the kernel, asleep, or waiting for a CPU that other work uses. Runs that fail are left out. COMMAND is one "
	  "word, which can be a shell command line: 'sort file | uniq'. The command after -- can be one word, too; or give --vs twice, and no command after --. If one needs a shell, both run in one. Their standard output is "
	  "discarded.",
	  false, NULL },
	{ "confidence", 0, NULL, OPT_CALL, AT(confidence), "PERCENT",
	  "Set the confidence level of --vs, from 50 to 99.99. Default: 95. With 95, about one of 20 rows that do not differ is shown "
	  "as `more` or `less`.", false, parse_confidence },
	{ "interval", 'i', NULL, OPT_U64, AT(interval_ms), "MS",
	  "Print the counts every MS milliseconds (or with a unit: 2s), from 1 to " STREAM_MAX_INTERVAL_TEXT ".", .least = 1,
	  .most = STREAM_MAX_INTERVAL_MS,
	  .expected = "milliseconds, such as 1000: from 1 to " STREAM_MAX_INTERVAL_TEXT },
	{ "seconds", 0, NULL, OPT_CALL, AT(common.run_ns), "N",
	  "Count for N seconds, such as 10 or 0.5. Not with a command, which ends the run itself.", false, stream_parse_run },
};

static const struct opt output_opts[] = {
	{ "per-cpu", 'A', "no-aggr", OPT_FLAG, AT(per_cpu), NULL, "Print a line for each CPU.", false, NULL },
	{ "per-core", 0, NULL, OPT_FLAG, AT(per_core), NULL,
	  "Print a line for each core (S socket, D die, C core), with the number of its CPUs.", false,
	  NULL },
	{ "per-thread", 0, NULL, OPT_FLAG, AT(per_thread), NULL, "Print a line for each thread of "
		"-p or -t; in text, sorted by the count of the first event, largest first.",
	  false, NULL },
	{ "csv", 0, NULL, OPT_FLAG, AT(csv), NULL,
	  "Print CSV (RFC 4180): a header line, then the counts; the columns are always the same.", false, NULL },
	{ "csv-safe", 0, NULL, OPT_FLAG, AT(csv_safe), NULL,
	  "Print CSV for a spreadsheet: put an apostrophe before text that begins with =, +, - or @, so that it is "
	  "not taken for a formula. Numbers do not change.", false, NULL },
	{ "field-separator", 'x', NULL, OPT_CALL, AT(separator), "CHAR", "Print CSV with this "
		"separator.",
	  false, parse_separator },
	{ "json", 'j', NULL, OPT_FLAG, AT(json), NULL,
	  "Print JSON: one object; with -i, one per line and interval.", false, NULL },
	{ "output", 'o', NULL, OPT_STRING, AT(common.output.path), "FILE",
	  "Write the counts to FILE. Default: stdout; stderr with a command, as stdout belongs to "
	  "the command. With --vs, CSV and JSON go to stdout.", false, NULL },
};

#define GROUP(title, opts, offset) { title, opts, sizeof(opts) / sizeof((opts)[0]), offset }

static const struct opt_group groups[] = {
	GROUP("Events", event_opts, 0),
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, AT(common) },
	GROUP("Measuring", measure_opts, 0),
	GROUP("Output", output_opts, 0),
	{ "Messages", stream_output_opts + STREAM_OUTPUT_NOPTS - 2, 2, AT(common) },
};

/* ---- combinations of options ----------------------------------------------------- */

static bool has_tasks(const struct stream_opts *o)
{
	return o->pids.n || o->tids.n;
}

static bool any_blank(const struct opt_strings *commands)
{
	for (size_t i = 0; i < commands->n; i++)
		if (!commands->v[i][strspn(commands->v[i], " \t\n")])
			return true;
	return false;
}

/* Each row: a combination that is not possible, and its message. */
static int check_combination(const struct stat_config *c, bool operands, struct fault *f)
{
	const bool command = operands || c->vs.n == 2;
	const struct stream_opts *o = &c->common;
	bool on_cpus = c->all_cpus || o->cpus.n || (!command && !has_tasks(o));
	const struct {
		bool wrong;
		const char *text;
	} rules[] = {
		{ c->all_cpus && has_tasks(o), "-a counts all tasks: it cannot be combined with -p or -t" },
		{ any_blank(&c->vs), "--vs \"\": expected a command, such as './job --fast'" },
		{ c->vs.n == 1 && !command, "--vs compares two commands: give the other one after --, or by a second --vs" },
		{ c->vs.n > 2, "--vs may be given twice at most: it compares two commands" },
		{ c->runs > 1 && !command, "-r repeats a command, and there is none; put it after --" },
		{ c->warmup && !command, "--warmup runs a command before it is counted, and there is none; put it after --" },
		{ c->vs.n == 2 && operands, "--vs compares two commands, and there are three: give one --vs and a command after --, or two "
					    "--vs and no command" },
		{ c->confidence > 0 && !c->vs.n, "--confidence is the level of a comparison: it needs --vs" },
		{ c->interval_ms && (c->runs > 1 || c->vs.n), "-i shows one run: it cannot be combined with -r or "
							      "--vs" },
		{ o->run_ns && command, "--seconds counts for that time, and a command until it ends: give one of them" },
		{ c->per_thread && c->runs > 1, "--per-thread cannot be combined with -r: threads come and go" },
		{ c->vs.n && (has_tasks(o) || o->cgroups.n), "--vs compares what two commands do: it cannot be "
							     "combined with -p, -t or --cgroup" },
		{ c->json && (c->csv || c->csv_safe || c->separator), "--json and CSV: give one of them" },
		{ c->per_cpu + c->per_core + c->per_thread > 1, "-A, --per-core, --per-thread: give "
								"one of them" },
		{ c->per_thread && !has_tasks(o), "--per-thread needs -p or -t" },
		{ (c->per_cpu || c->per_core) && !on_cpus, "-A and --per-core need -a or -C" },
		{ (c->per_cpu || c->per_core || c->per_thread) && c->vs.n, "--vs compares whole commands: it "
									 "cannot be combined with -A, --per-core "
									 "or --per-thread" },
		{ (c->per_cpu || c->per_core) && o->cgroups.n, "-A and --per-core cannot be combined with "
							       "--cgroup" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].wrong)
			return fault_usage(f, "stat: %s", rules[i].text);
	return 0;
}

/* ./a --vs ./b: options are before the command, and all words behind it are its own. */
static int check_place_of_vs(const struct stat_config *c, const struct opt_parser *args, struct fault *f)
{
	for (int i = 1; i < args->noperands && !c->vs.n && args->after_dashes; i++)
		if (!strncmp(args->operands[i], "--vs", 4) && (!args->operands[i][4] || args->operands[i][4] == '='))
			return fault_usage(f, "stat: --vs after the command %s would be an argument of that command: put --vs before it (or "
					   "-- before the command, if it has an option --vs)", args->operands[0]);
	return 0;
}

static enum stat_by chosen_by(const struct stat_config *c)
{
	if (c->per_cpu)
		return BY_CPU;
	if (c->per_core)
		return BY_CORE;
	if (c->per_thread)
		return BY_THREAD;
	return c->common.cgroups.n ? BY_CGROUP : BY_ALL;
}

/* ---- the command -------------------------------------------------------------------- */

static int count(struct counting *s, char **argv, struct fault *f)
{
	if (stat_events_parse(s, f) || targets_resolve(&s->targets, &s->config->common, f))
		return f->exit_code;
	targets_note_empty(&s->targets, &s->config->common);
	return s->config->vs.n ? stat_compare(s, argv, f) : stat_run(s, argv, f);
}

/* Files opened by stat itself, at most; without events. */
enum { OWN_FILES = 16 };

static int stat_command_run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct stat_config *c = config;
	char **argv = args->noperands ? args->operands : NULL;
	struct counting s = { .config = c, .by = chosen_by(c) };
	int code;

	getrlimit(RLIMIT_NOFILE, &s.files);
	descriptors_reserve(OWN_FILES);
	if (check_combination(c, argv, f) || check_place_of_vs(c, args, f)) {
		code = f->exit_code;
	} else {
		c->csv |= c->separator || c->csv_safe;
		if (!c->separator)
			c->separator = ",";
		s.on_command = (argv || c->vs.n) && !c->all_cpus && !c->common.cpus.n &&
			       targets_everybody(&c->common);
		stat_input_begin(&s.input);
		code = count(&s, argv, f);
	}
	stat_close_all(&s);
	stat_places_free(&s);
	stat_events_free(&s);
	targets_free(&s.targets);
	free(s.rows);
	return code;
}

static void defaults(void *config)
{
	struct stat_config *c = config;

	stream_opts_defaults(&c->common);
}

static void release(void *config)
{
	struct stat_config *c = config;

	opt_strings_free(&c->events);
	opt_strings_free(&c->vs);
	stream_opts_free(&c->common);
}

const struct command stat_command = {
	.name = "stat",
	.usual = "event pids all-cpus repeat vs interval per-cpu detailed json csv seconds",
	.summary = "count events in a command, a process or the whole machine",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = COMMAND_TEXT(
		"How often do events happen? Counts them in a command, or in processes, threads, control groups "
		"or CPUs until they end or SIGINT comes. If you give such a target, a command only sets how long "
		"to count: -p 1234 -- sleep 10.",
		"The modifiers P and S are for samples and have no effect here. If a group has more events than "
		"the PMU has counters, the events that do not fit are left out; with W, each event of it is "
		"counted on its own.",
		"If an event cannot be counted here, its line says <not supported>, or <not permitted> if "
		"privilege is missing; a message gives the reason, and the other events are counted. An "
		"event is <not counted> if other events used all counters all the time; an event pinned with D, "
		"from the moment it lost its counter. If events shared a counter (multiplexing), their counts are "
		"estimates, followed by the share of the time in which they were counted. Without the privilege to "
		"count the kernel, only user space is counted, and the name ends in :u.",
		"The exit status is that of the command: 128 + n if signal n ended it, 127 if there is no "
		"such program, 126 if it cannot be executed. It is 1 if the command succeeded but no event "
		"could be counted."),
	OPT_GROUPS(groups),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof stat -- make -j4", "count the default events in a command" },
		{ "perf-prof stat -e '{cycles,instructions}' -r 5 -- ./job", "count a group in five runs of a command" },
		{ "perf-prof stat --vs './job --fast' -- ./job", "show whether one command is significantly faster than another" },
		{ "perf-prof stat -a -A -i 1000 -e context-switches", "count context switches on each CPU, each second" },
		{ "perf-prof stat -p 1234 --per-thread -e task-clock",
		  "count the CPU time of each thread of a process, until Ctrl-C" },
		{ "perf-prof stat -p 1234 -- sleep 10", "count in a process for ten seconds" },
		{ "perf-prof stat --json -o counts.json -- ./job", "write the counts of a command as JSON" }),
	.mode = OPT_MODE_COMMAND,
	.config_size = sizeof(struct stat_config),
	.defaults = defaults,
	.release = release,
	.run = stat_command_run,
};
