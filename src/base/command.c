/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command, and prints its table as help text (-h) and as a man page (roff). */
#include "base/command.h"

#include "base/unprivileged.h"

#include <stdlib.h>
#include <string.h>

static int run_parsed(const struct command *cmd, struct opt_parser *p, struct fault *f)
{
	if (p->help && cmd->mode == OPT_MODE_COMMAND && p->noperands && p->after_dashes < 0)
		return fault_usage(f, "%s: -h explains all options: leave \"%s\" out", cmd->name, p->operands[0]);
	if (p->help) {
		command_help(cmd, p->help_all, stdout);
		return EXIT_DONE;
	}
	return cmd->run(p->config, p, f);
}

int command_run(const struct command *cmd, int argc, char **argv, const void *sources)
{
	struct opt_parser p = {
		.groups = cmd->groups, .ngroups = cmd->ngroups, .mode = cmd->mode,
		.command = cmd->name, .subject = cmd->subject,
	};
	struct fault f = {0};
	int code;

	p.config = calloc(1, cmd->config_size ? cmd->config_size : 1);
	if (!p.config) {
		fault_set(&f, EXIT_FAILED, "out of memory");
		fault_print(&f);
		return EXIT_FAILED;
	}
	if (cmd->defaults)
		cmd->defaults(p.config);
	if (cmd->sources_at)
		memcpy((char *)p.config + cmd->sources_at, &sources, sizeof(sources));
	if (opt_parse(&p, argc, argv, &f))
		code = f.exit_code;
	else
		code = run_parsed(cmd, &p, &f);
	if (f.exit_code) {
		opt_name_as_typed(&p, &f);
		unprivileged_advise(cmd->name, argv, &f);
		fault_print(&f);
		code = f.exit_code;
	}
	if (cmd->release)
		cmd->release(p.config);
	free(p.operands);
	opt_strings_free(&p.outputs);
	free(p.config);
	return code;
}

/* "-e, --event LIST" */
static int option_head(const struct opt *o, char *buf, size_t size)
{
	int n = 0;

	if (o->key)
		n += snprintf(buf + n, size - n, "-%c%s", o->key, o->name ? ", " : "");
	if (o->name)
		n += snprintf(buf + n, size - n, "--%s%s", o->negatable ? "[no-]" : "", o->name);
	if (o->alias)
		n += snprintf(buf + n, size - n, ", --%s", o->alias);
	if (o->arg)
		n += snprintf(buf + n, size - n, o->kind == OPT_CHOICE ? " [%s]" : " %s", o->arg);
	return n;
}

/* Prints text wrapped to `width` columns, later lines indented by `indent`. */
static void wrap(FILE *out, const char *text, int column, int indent, int width)
{
	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (column > indent && column + 1 + len > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, (size_t)len, out);
		column += len;
		text += len;
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}

enum { WIDTH = 96 };

static void help_option(const struct opt *o, bool whole, FILE *out)
{
	enum { INDENT = 30 };
	const char *end = whole ? NULL : strstr(o->help, ". ");
	char head[128], text[1024];
	int n = option_head(o, head, sizeof(head));

	fprintf(out, "  %s%s", o->key ? "" : "    ", head);
	n += o->key ? 2 : 6;
	if (n >= INDENT - 1) {
		fputc('\n', out);
		n = 0;
	}
	fprintf(out, "%*s", INDENT - n, "");
	snprintf(text, sizeof(text), "%.*s", end ? (int)(end + 1 - o->help) : (int)sizeof(text), o->help);
	wrap(out, whole ? o->help : text, INDENT, INDENT, WIDTH);
}

static const struct opt *option_named(const struct command *cmd, const char *name, size_t len)
{
	for (size_t g = 0; g < cmd->ngroups; g++)
		for (size_t i = 0; i < cmd->groups[g].nopts; i++) {
			const struct opt *o = &cmd->groups[g].opts[i];

			if (o->name && strlen(o->name) == len && !strncmp(o->name, name, len))
				return o;
		}
	return NULL;
}

void command_help_options(const struct command *cmd, const char *names, bool whole, FILE *out)
{
	for (size_t len; (len = strcspn(names, " ")); names += len + strspn(names + len, " ")) {
		const struct opt *o = option_named(cmd, names, len);

		if (o)
			help_option(o, whole, out);
	}
}

static void help_examples(const struct command *cmd, size_t most, FILE *out)
{
	if (cmd->examples)
		fputs("\nExamples:\n", out);
	for (const struct command_example *e = cmd->examples; e && e->line && most--; e++)
		fprintf(out, "  %s\n      %s\n", e->line, e->what);
}

static size_t count_options(const struct command *cmd)
{
	size_t n = 0;

	for (size_t g = 0; g < cmd->ngroups; g++)
		n += cmd->groups[g].nopts;
	return n;
}

void command_help(const struct command *cmd, bool all, FILE *out)
{
	fprintf(out, "perf-prof %s - %s\n\nUsage: perf-prof %s %s\n", cmd->name, cmd->summary,
		cmd->name, cmd->usage);
	if (cmd->usual && !all) {
		help_examples(cmd, 3, out);
		fputs("\nOptions that are often used:\n", out);
		command_help_options(cmd, cmd->usual, false, out);
		fprintf(out, "\nAll %zu options: perf-prof %s --help-all. The manual: man perf-prof-%s\n", count_options(cmd),
			cmd->name, cmd->name);
		return;
	}
	for (size_t g = 0; g < cmd->ngroups; g++) {
		fprintf(out, "\n%s:\n", cmd->groups[g].title);
		for (size_t i = 0; i < cmd->groups[g].nopts; i++)
			help_option(&cmd->groups[g].opts[i], true, out);
	}
	help_examples(cmd, SIZE_MAX, out);
	fprintf(out, "\nMore: man perf-prof-%s\n", cmd->name);
}

/* Escapes text for roff: a macro's argument ends at a double quote, and text to be copied into a
 * shell must not get typographic quotes and dashes. */
static void roff_inline(FILE *out, const char *text)
{
	static const struct {
		char c;
		const char *roff;
	} rows[] = {
		{ '\\', "\\e" }, { '-', "\\-" }, { '"', "\\(dq" }, { '\'', "\\(aq" },
		{ '`', "\\(ga" }, { '^', "\\(ha" }, { '~', "\\(ti" },
	};

	for (; *text; text++) {
		size_t i = 0;

		while (i < sizeof(rows) / sizeof(*rows) && rows[i].c != *text)
			i++;
		if (i < sizeof(rows) / sizeof(*rows))
			fputs(rows[i].roff, out);
		else
			fputc(*text, out);
	}
}

/* Writes a whole line of roff, which must not begin with a dot. */
static void roff(FILE *out, const char *text)
{
	if (*text == '.')
		fputs("\\&", out);
	roff_inline(out, text);
	fputc('\n', out);
}

void command_man(const struct command *cmd, FILE *out)
{
	char head[128];

	fprintf(out, ".TH PERF-PROF-%s 1 \"\" \"perf-prof\" \"perf-prof manual\"\n", cmd->name);
	fputs(".SH NAME\nperf\\-prof\\-", out);
	roff_inline(out, cmd->name);
	fputs(" \\- ", out);
	roff(out, cmd->summary);
	fputs(".SH SYNOPSIS\n.B perf\\-prof ", out);
	roff(out, cmd->name);
	roff(out, cmd->usage);
	if (cmd->description)
		fputs(".SH DESCRIPTION\n", out);
	for (const char *const *d = cmd->description; d && *d; d++) {
		fputs(".PP\n", out);
		roff(out, *d);
	}
	for (size_t g = 0; g < cmd->ngroups; g++) {
		fprintf(out, ".SH \"%s\"\n", cmd->groups[g].title);
		for (size_t i = 0; i < cmd->groups[g].nopts; i++) {
			option_head(&cmd->groups[g].opts[i], head, sizeof(head));
			fputs(".TP\n.B ", out);
			roff(out, head);
			roff(out, cmd->groups[g].opts[i].help);
		}
	}
	fputs(".SH EXIT STATUS\n"
	      "0 success, also if SIGINT ended a live run; 1 failed while running; 2 wrong usage;\n"
	      "130 on a second SIGINT, or on the first one while a recording file is read.\n", out);
	if (cmd->mode == OPT_MODE_COMMAND)
		fputs(".PP\nIf it runs a command and does not fail itself: the exit status of the command; 128 + n if signal n ended it;\n"
		      "127 if there is no such program, 126 if it cannot be executed.\n", out);
	if (cmd->examples)
		fputs(".SH EXAMPLES\n", out);
	for (const struct command_example *e = cmd->examples; e && e->line; e++) {
		fputs(".TP\n.B ", out);
		roff(out, e->line);
		roff(out, e->what);
	}
	fputs(".SH SEE ALSO\n.BR perf\\-prof (1)\n", out);
}
