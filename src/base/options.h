/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command line options as rows of tables: one row parses, explains itself in -h and
 * in the man page.
 *
 * Why not getopt or argp: a script's own arguments stand among ours without "--"
 * (`./script.py -i 1000 --threshold 50`), so unknown options must pass through, and
 * an abbreviation must never swallow one. Neither library can do both.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a row's value is stored at base + offset. */
enum opt_kind {
	OPT_FLAG,        /* bool; arg == NULL */
	OPT_COUNT,       /* int, one more each time: -vv */
	OPT_TRI,         /* int: 0 not said, 1 --NAME, -1 --no-NAME */
	OPT_U64,         /* uint64_t */
	OPT_STRING,      /* const char *, the last one wins */
	OPT_OUTFILE,     /* the same: a file that is written */
	OPT_STRINGS,     /* struct opt_strings, repeatable */
	OPT_CALL,        /* parse(text, base + offset, fault) */
	OPT_CHOICE,      /* the same; its value may be left out: NULL. A word behind it is the value
			  * if it begins as one of arg does: "fp|dwarf[,SIZE]" */
};

struct opt_strings {
	const char **v;
	size_t n;
};

struct opt {
	const char *name;      /* long name, without "--" */
	char key;              /* short name, or 0 */
	const char *alias;     /* a second long name, or NULL */
	enum opt_kind kind;
	size_t offset;
	const char *arg;       /* "LIST"; NULL: takes no value */
	const char *help;
	bool negatable;        /* --no-NAME clears the flag */
	int (*parse)(const char *text, void *field, struct fault *f);
};

/* Options that belong together, and where their struct lies in the command's config. */
struct opt_group {
	const char *title;
	const struct opt *opts;
	size_t nopts;
	size_t offset;
};

enum opt_mode {
	OPT_MODE_PLAIN,        /* options and operands in any order; "--" ends options */
	OPT_MODE_SCRIPT,       /* after the first operand, what is not ours is the operand's */
	OPT_MODE_COMMAND,      /* the first operand is a command: all behind it is its own */
};

struct opt_parser {
	const struct opt_group *groups;
	size_t ngroups;
	void *config;
	enum opt_mode mode;
	const char *command;   /* for messages */
	const void *subject;   /* of that command (base/command.h) */
	const char *listed;    /* where its options are listed; NULL: by `perf-prof COMMAND -h` */
	/* results */
	char **operands;       /* pointers into argv, NULL terminated; free() it */
	int noperands;
	int after_dashes;      /* index of the first operand after "--", or -1 */
	struct opt_strings outputs;   /* values of OPT_OUTFILE; opt_strings_free() */
	bool help;             /* -h or --help was there */
};

/* Parses argv[0..argc): the words after the command's name. 0, or -1 with f. */
int opt_parse(struct opt_parser *p, int argc, char **argv, struct fault *f);
void opt_strings_free(struct opt_strings *s);
#endif
