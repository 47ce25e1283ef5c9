/* SPDX-License-Identifier: Apache-2.0 */
/* A command of perf-prof: one row in main's table. Help text and man page come from it. */
#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include "base/options.h"

#include <stdio.h>

struct command_example {
	const char *line;
	const char *what;
};

struct command {
	const char *name;
	const char *summary;              /* one line */
	const char *usage;                /* what follows "perf-prof NAME " */
	const char *const *description;   /* paragraphs, NULL terminated */
	const struct opt_group *groups;
	size_t ngroups;
	const char *usual;                /* long names of the options that -h explains; NULL: all */
	const struct command_example *examples;   /* ended by line == NULL */
	enum opt_mode mode;
	size_t config_size;               /* run() gets a zeroed config of this size */
	void (*defaults)(void *config);   /* may be NULL */
	size_t sources_at;                /* offset in the config of the pointer to the sources
					   * of event lists; 0: none */
	const void *subject;              /* for run(), in args; or NULL */
	void (*release)(void *config);    /* frees memory that options allocated; may be NULL */
	/* Does the work; returns the exit code. On failure it fills f, which the caller prints. */
	int (*run)(void *config, const struct opt_parser *args, struct fault *f);
};

/* For its description and its examples. */
#define COMMAND_TEXT(...) (const char *const[]){ __VA_ARGS__, NULL }
#define COMMAND_EXAMPLES(...) (const struct command_example[]){ __VA_ARGS__, { NULL, NULL } }
/* In a struct command and in a struct source_ops: an array of groups, or the groups. */
#define OPT_GROUPS(array) .groups = array, .ngroups = sizeof(array) / sizeof(*(array))
#define OPT_GROUP_ROWS(...) OPT_GROUPS(((const struct opt_group[]){ __VA_ARGS__ }))

/* Parses argv (the words after the command's name), runs the command, prints a fault. `sources` (stream/list/source.h) is
 * stored at sources_at. Returns the exit code. */
int command_run(const struct command *cmd, int argc, char **argv, const void *sources);
/* Prints one screen, or with `all` every option. */
void command_help(const struct command *cmd, bool all, FILE *out);
/* Prints the options with these long names: their first sentences, or with `whole` all of their text. */
void command_help_options(const struct command *cmd, const char *names, bool whole, FILE *out);
void command_man(const struct command *cmd, FILE *out);
#endif
