/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof help and perf-prof version. */
#include "build_config.h"
#include "cli/commands.h"
#include "report/json.h"

#include <stddef.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------- */

/* The commands and their options as JSON, for other programs: perf_prof makes its functions of them. */

static bool put_option(json_object *to, const struct opt *o)
{
	static const char *const kinds[] = {
		[OPT_FLAG] = "flag", [OPT_COUNT] = "count", [OPT_TRI] = "flag", [OPT_U64] = "number", [OPT_SIZE] = "size",
		[OPT_STRING] = "text", [OPT_INFILE] = "text", [OPT_OUTFILE] = "file", [OPT_STRINGS] = "texts", [OPT_CALL] = "text",
		[OPT_CHOICE] = "choice",
	};
	json_object *one = json_object_new_object();
	const char key[] = { o->key, '\0' };

	return json_append(to, one) && json_put_text(one, "name", o->name) &&
	       json_put_text(one, "key", o->key ? key : NULL) && json_put_text(one, "alias", o->alias) &&
	       json_put_text(one, "kind", o->kind == OPT_CALL && !o->arg ? "flag" : kinds[o->kind]) &&
	       json_put_text(one, "value", o->arg) && json_put_bool(one, "negatable", o->negatable) &&
	       json_put_text(one, "help", o->help);
}

static bool put_group(json_object *to, const struct opt_group *g)
{
	json_object *one = json_object_new_object(), *options = json_object_new_array();
	bool good = json_append(to, one) && json_put_text(one, "title", g->title);

	good &= json_put(one, "options", options);
	for (size_t i = 0; i < g->nopts && good; i++)
		good = put_option(options, &g->opts[i]);
	return good;
}

static bool put_examples(json_object *to, const struct command *cmd)
{
	json_object *all = json_object_new_array();
	bool good = json_put(to, "examples", all);

	for (const struct command_example *e = cmd->examples; e && e->line && good; e++) {
		json_object *one = json_object_new_object();

		good = json_append(all, one) && json_put_text(one, "line", e->line) && json_put_text(one, "what", e->what);
	}
	return good;
}

static bool put_command(json_object *to, const struct command *cmd)
{
	json_object *text = json_object_new_array(), *groups = json_object_new_array();
	bool good = json_put_text(to, "command", cmd->name) && json_put_text(to, "summary", cmd->summary) &&
		    json_put_text(to, "usage", cmd->usage);

	good &= json_put(to, "description", text);
	good &= json_put(to, "groups", groups);
	for (const char *const *d = cmd->description; d && *d && good; d++)
		good = json_append(text, json_text(*d, strlen(*d)));
	for (size_t i = 0; i < cmd->ngroups && good; i++)
		good = put_group(groups, &cmd->groups[i]);
	return good && put_examples(to, cmd);
}

int help_json(const struct command *cmd, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_line(root, root && put_command(root, cmd), out);
}

/* ---- help ------------------------------------------------------------------ */

struct help_config {
	bool man, json;
};

static const struct opt help_opts[] = {
	{ "man", 0, NULL, OPT_FLAG, offsetof(struct help_config, man), NULL,
	  "Print the manual page as roff: perf-prof help --man python | man -l -.", false, NULL },
	{ "json", 0, NULL, OPT_FLAG, offsetof(struct help_config, json), NULL,
	  "Print JSON, for programs: a line for the command, or for each, with its options.", false, NULL },
};
static const struct opt_group help_groups[] = { { "Options", help_opts, 2, 0 } };

void help_overview(FILE *out)
{
	fputs("perf-prof - count, sample and trace with Linux perf events\n\n"
	      "Usage: perf-prof COMMAND [options]\n\nCommands:\n", out);
	for (size_t i = 0; command_at(i); i++)
		fprintf(out, "  %-12s %s\n", command_at(i)->name, command_at(i)->summary);
	fputs("\n`perf-prof COMMAND -h` and `man perf-prof-COMMAND` explain a command, `perf-prof help tuning` rings and clocks.\n\n"
	      "First steps:\n"
	      "  perf-prof check                                     show what you can use here\n"
	      "  perf-prof list 'sched:*'                            list the scheduler's tracepoints\n"
	      "  perf-prof profile -g -- ./program                   show where a program spends its time\n"
	      "  perf-prof python -e sched:sched_wakeup script.py    call Python functions for events\n",
	      out);
}

static void overview_man(FILE *out)
{
	fputs(".TH PERF-PROF 1 \"\" \"perf-prof\" \"perf-prof manual\"\n"
	      ".SH NAME\nperf\\-prof \\- count, sample and trace with Linux perf events\n"
	      ".SH SYNOPSIS\n.B perf\\-prof\nCOMMAND [options]\n.SH COMMANDS\n", out);
	for (size_t i = 0; command_at(i); i++)
		fprintf(out, ".TP\n.BR perf\\-prof\\-%s (1)\n%s\n", command_at(i)->name,
			command_at(i)->summary);
	fputs(".SH PRIVILEGE\nMost commands need root (sudo). To let other users watch the machine, give the "
	      "program the capability CAP_PERFMON (Linux 5.8) and no other, and let only their group execute "
	      "it:\n.PP\n.nf\n    chgrp perf\\-users /usr/local/bin/perf\\-prof\n    chmod 750 "
	      "/usr/local/bin/perf\\-prof\n    setcap cap_perfmon+ep /usr/local/bin/perf\\-prof\n.fi\n.PP\n"
	      "These users can then watch all tasks and the kernel. Scripts and commands that they start "
	      "get no capability. Other capabilities of the file are dropped at the start. Do not install "
	      "perf\\-prof setuid or setgid: it refuses to run.\n", out);
	fputs(".SH EXIT STATUS\n0 success, also if SIGINT ended a live run; 1 failed while running; 2 wrong usage; 130 on a "
	      "second SIGINT, or on the first one while a recording file is read.\n.PP\nOf perf\\-prof commands that run another command, and do not "
	      "fail themselves: the exit status of that command; 128 + n if signal n ended it; 127 if there is no such program, 126 if it "
	      "cannot be executed.\n", out);
}

/* All commands that watch take these options, and most machines need none of them. */
static void help_tuning(FILE *out)
{
	fputs("perf-prof help tuning - rings, clocks and delivery\n\n"
	      "Events wait in a ring of each CPU until perf-prof reads them. These options of all commands that watch are for machines where\n"
	      "events are lost, come late, or have to fit the clock of another program. Lost events are always reported.\n\n", out);
	command_help_options(command_find("profile"), "mmap-pages buffer watermark order sampling-limit strict-freq tsc monotonic clock-offset "
			     "cache usage-self", true, out);
}

static int all_json(void)
{
	int rc = 0;

	for (size_t i = 0; command_at(i) && !rc; i++)
		rc = help_json(command_at(i), stdout);
	return rc;
}

static int help_run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct help_config *c = config;
	const struct command *cmd;

	if (c->man && c->json)
		return fault_usage(f, "help: --man and --json: give one of them");
	if (args->noperands > 1)
		return fault_usage(f, "help: expected one command, but \"%s\" is another word; `perf-prof help %s` explains all options of "
				   "%s", args->operands[1], args->operands[0], args->operands[0]);
	if (!args->noperands && c->json)
		return all_json() ? fault_set(f, EXIT_FAILED, "help: cannot write JSON, or out of memory") : 0;
	if (!args->noperands) {
		if (c->man)
			overview_man(stdout);
		else
			help_overview(stdout);
		return 0;
	}
	if (!strcmp(args->operands[0], "tuning")) {
		help_tuning(stdout);
		return 0;
	}
	cmd = command_find(args->operands[0]);
	if (!cmd)
		return command_unknown(args->operands[0], f);
	if (c->json)
		return help_json(cmd, stdout) ? fault_set(f, EXIT_FAILED, "help: cannot write JSON, or out of memory") : 0;
	if (c->man)
		command_man(cmd, stdout);
	else
		command_help(cmd, false, stdout);
	return 0;
}

const struct command help_command = {
	.name = "help",
	.summary = "list the commands, or explain one of them",
	.usage = "[COMMAND]",
	.groups = help_groups,
	.ngroups = 1,
	.config_size = sizeof(struct help_config),
	.run = help_run,
};

/* ---- version --------------------------------------------------------------- */

struct version_config {
	bool build_options;
};

static const struct opt version_opts[] = {
	{ "build-options", 0, NULL, OPT_FLAG, offsetof(struct version_config, build_options), NULL,
	  "Also print the versions of the libraries and the compiler.", false, NULL },
};
static const struct opt_group version_groups[] = { { "Options", version_opts, 1, 0 } };

static int stop(const char *pmu, const char *name, const char *desc, void *ctx)
{
	return 1;
}

static int version_run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct version_config *c = config;

	if (args->noperands)
		return fault_usage(f, "version: takes no operand, but has \"%s\"", args->operands[0]);
	printf("perf-prof %s\n", PERF_PROF_VERSION);
	if (!c->build_options)
		return 0;
	printf("%15s: %s\n", "python", python_version());
	printf("%15s: %s\n", "libtraceevent", TRACEEVENT_VERSION);
	printf("%15s: %s\n", "elfutils", ELFUTILS_VERSION);
	printf("%15s: %s\n", "libiberty", HAVE_LIBIBERTY);
	printf("%15s: %s\n", "libcapstone", CAPSTONE_VERSION);
	printf("%15s: %s\n", "libpfm4", pev_vendor_each(stop, NULL) < 0 ? "no" : "yes");
	printf("%15s: %s\n", "libzstd", ZSTD_VERSION);
	printf("%15s: %s\n", "zlib", ZLIB_VERSION);
	printf("%15s: %s\n", "ncurses", NCURSES_VERSION);
	printf("%15s: %s\n", "protobuf-c", PROTOBUF_VERSION);
	printf("%15s: %s\n", ".html pictures", HTML_PICTURES);
	printf("%15s: %s\n", "compiler", __VERSION__);
	return 0;
}

const struct command version_command = {
	.name = "version",
	.summary = "print the version",
	.usage = "[--build-options]",
	.groups = version_groups,
	.ngroups = 1,
	.config_size = sizeof(struct version_config),
	.run = version_run,
};
