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
	const struct command_example *examples;   /* ended by line == NULL */
	enum opt_mode mode;
	size_t config_size;               /* zeroed config that run() gets */
	void (*defaults)(void *config);   /* may be NULL */
	size_t sources_at;                /* of the config's pointer to the sources of event lists; 0: none */
	const void *subject;              /* for run(), in args; or NULL */
	void (*release)(void *config);    /* frees what options put there; may be NULL */
	/* Does the work; returns the exit code. Where it fails it fills f and the
	 * caller prints it. */
	int (*run)(void *config, const struct opt_parser *args, struct fault *f);
};

/* In a struct command and in a struct source_ops: an array of groups. */
#define OPT_GROUPS(array) .groups = array, .ngroups = sizeof(array) / sizeof(*(array))

/* Parses argv (words after the command's name), runs, prints a fault. `sources` (stream/source.h) goes where the
 * command says. The exit code. */
int command_run(const struct command *cmd, int argc, char **argv, const void *sources);
void command_help(const struct command *cmd, FILE *out);
void command_man(const struct command *cmd, FILE *out);
#endif
