/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command line options as tables: each row is used for parsing, for -h and for the man page.
 *
 * Why not getopt or argp: a script's own arguments mix with ours without "--" (`./script.py -i
 * 1000 --threshold 50`), so unknown options must pass through, and must never be taken for
 * abbreviations. Neither library can do both.
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
	OPT_TRI,         /* int: 0 not given, 1 --NAME, -1 --no-NAME */
	OPT_U64,         /* uint64_t, within limits */
	OPT_SIZE,        /* uint64_t: a number of bytes with a unit, within limits */
	OPT_STRING,      /* const char *, the last one wins */
	OPT_INFILE,      /* the same, given once, for the recording that is read */
	OPT_OUTFILE,     /* OPT_STRING for a file that is written */
	OPT_STRINGS,     /* struct opt_strings, repeatable */
	OPT_CALL,        /* parse(text, base + offset, fault) */
	OPT_CHOICE,      /* OPT_CALL whose value may be omitted: NULL. The next word is the value
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
	/* OPT_U64, OPT_SIZE: */
	uint64_t least, most;  /* most 0: no limit */
	const char *expected;  /* "a size with a unit, such as 8M"; NULL: any number is valid */
};

/* Related options, and the offset of their struct in the command's config. */
struct opt_group {
	const char *title;
	const struct opt *opts;
	size_t nopts;
	size_t offset;
};

enum opt_mode {
	OPT_MODE_PLAIN,        /* options and operands in any order; "--" ends options */
	OPT_MODE_SCRIPT,       /* after the first operand, unknown options belong to it */
	OPT_MODE_COMMAND,      /* the first operand is a command, to which all later words belong */
};

struct opt_parser {
	const struct opt_group *groups;
	size_t ngroups;
	void *config;
	enum opt_mode mode;
	const char *command;   /* for messages */
	const void *subject;   /* of that command (base/command.h) */
	const char *listed;    /* the place that lists the options; NULL: `perf-prof COMMAND --help-all` */
	/* results */
	char **words;          /* all that was parsed */
	size_t nwords;
	char **operands;       /* pointers into argv, NULL terminated; free() it */
	int noperands;
	int after_dashes;      /* index of the first operand after "--", or -1 */
	struct opt_strings outputs;   /* values of OPT_OUTFILE; opt_strings_free() */
	bool help, help_all;   /* -h, --help or --help-all was given; --help-all */
};

/* Parses argv[0..argc): the words after the command's name. 0, or -1 with f. */
int opt_parse(struct opt_parser *p, int argc, char **argv, struct fault *f);
/* A message that begins with an option ("--cpus 99: ...") names it as it was typed: "-C 99: ...". opt_parse() does so for its own
 * messages. */
void opt_name_as_typed(const struct opt_parser *p, struct fault *f);
/* The value of an OPT_CALL: "99" or "99.5%", from low to high. 0, or -1 with f. */
int opt_percent(const char *text, const char *option, double low, double high, double *percent, struct fault *f);
/* 0, or -1 with f. */
int opt_strings_add(struct opt_strings *s, const char *text, struct fault *f);
void opt_strings_free(struct opt_strings *s);
#endif
