/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of events for people and programs: one structure, three renderings. */
#ifndef STAT_COUNTS_H
#define STAT_COUNTS_H

#include "report/csv.h"
#include "report/stats.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum count_state {
	COUNT_GOOD,
	COUNT_NEVER_RAN,         /* never on the PMU because of multiplexing: unknown */
	COUNT_NOT_SUPPORTED,     /* the event could not be opened; `why` has the reason */
	COUNT_NOT_PERMITTED,     /* not for this user; `why` has what is needed */
};

/* For programs: "counted", "not supported". */
extern const char *const count_states[];

struct count_metric {
	double value;
	const char *unit;        /* "insn per cycle", "/sec"; NULL: no metric */
	char prefix;             /* 'K', 'M', 'G' before the unit, or 0 */
	bool is_ratio;           /* of two counts that belong together; false: events per second */
};

/* One event, added up over the places named by `where`. */
struct count_row {
	const char *event;
	const char *where;       /* "CPU0", "S0-D0-C1", "bash-123"; NULL: all */
	unsigned int counters;   /* how many were added up */
	enum count_state state;
	const char *why;         /* also if a count is always 0; or NULL */
	bool accounted;          /* it is from the kernel's account of the command; `why` says so */
	const char *unit;        /* of value * scale; NULL: none */
	double scale;
	double value;            /* estimate, unscaled; the mean of several runs */
	double counted;          /* as counted; equal to value unless multiplexed */
	uint64_t enabled, running;   /* ns, sum of all counters */
	double share;            /* of the time it ran, 0..1; 1: value is exact, unless it is partial */
	const char *partial;     /* why a process is not counted, or only in part; or NULL */
	struct stats runs;       /* n > 1: statistics of value */
	struct count_metric metric;
};

static inline bool count_was_open(const struct count_row *r)
{
	return r->state == COUNT_GOOD || r->state == COUNT_NEVER_RAN;
}

static inline const char *count_why(const struct count_row *r)
{
	return r->why ? r->why : r->partial;
}

struct count_table {
	const char *title;       /* "'sleep 1'", "system wide" */
	const char *const *command;  /* NULL terminated, or NULL */
	const char *where_word;  /* kind of the rows' `where`: "cpu", "core", "thread", "cgroup" */
	struct count_row *rows;
	size_t n;
	bool is_interval;
	double time;             /* s since the start; for an interval, of its end */
	struct stats elapsed;    /* s; n = runs */
	struct stats user, sys;  /* s, of a command */
	int exit_status;         /* of the command, as in shells; -1: none */
	size_t failed;           /* runs of the command that ended with another exit status than 0 */
	int signal;              /* that ended the last of them; 0: none */
};

/* "with exit code 7", "ended by signal 11 (Segmentation fault)". status: as in shells. signal: 0: none */
const char *count_failure(int status, int signal, char *buf, size_t size);

/* first: the first of several tables (intervals), which gets titles. */
void counts_text(const struct count_table *t, bool first, FILE *out);
void counts_csv(const struct count_table *t, struct csv_form form, bool first, FILE *out);
/* An interval is one line, anything else an indented document. 0, -ENOMEM or -EIO. */
int counts_json(const struct count_table *t, FILE *out);

/* ---- two commands ------------------------------------------------------------ */

struct compared_row {
	const char *event;
	const char *metric;      /* a ratio of that event: "insn per cycle"; NULL: its count */
	const char *unit;
	double scale;
	struct stats a, b;       /* estimates, unscaled */
	struct stats_difference difference;
	double share;            /* minimum of all runs */
	bool from_glob;          /* not named by itself */
	bool costly;             /* a tracepoint or probe: each event takes time in the command itself */
};

/* The run that took longest: s; next: the longest of the others. Runs count from 1; 0: none */
struct slowest_run {
	double elapsed, next;
	size_t run;
};

struct compared_side {
	const char *command;     /* as typed */
	size_t runs, failed;     /* failed ones are in no row, unless all failed */
	int status, signal;      /* of the last run that failed: its exit status as in shells, the signal that ended it or 0 */
	bool mixed;              /* others failed in another way */
	struct slowest_run slowest;
};

struct compared_table {
	struct compared_side sides[2];       /* A, B */
	double confidence;       /* 0.95 */
	struct compared_row *rows;
	size_t n;
	const struct compared_row *elapsed;  /* of these rows; NULL: no run was complete */
	const struct compared_row *cpu;      /* CPU time, also if no row has it; NULL: as above */
	const struct compared_row *undelayed;   /* no row: elapsed time without that of waiting for a CPU; NULL: not known */
};

/* Both always end with the same exit code: what it means is known to them alone (grep: nothing was found). */
bool compared_same_exit(const struct compared_table *t);
/* A command always fails: differences say nothing about what it was to do. */
bool compared_has_no_winner(const struct compared_table *t);
/* What B has, compared with A: "more", "less", "no difference shown"; NULL: there is no winner, or one run only. */
const char *compared_verdict(const struct compared_table *t, const struct compared_row *r);
/* The mean of B divided by that of A. False: there is none. r: or NULL */
bool compared_ratio(const struct compared_table *t, const struct compared_row *r, struct stats_ratio *ratio);
/* A line about the failures of a side, 0 or 1; false: nothing is to be said. */
bool compared_failure(const struct compared_table *t, int side, char *buf, size_t size);

void compared_text(const struct compared_table *t, FILE *out);
void compared_csv(const struct compared_table *t, struct csv_form form, FILE *out);
int compared_json(const struct compared_table *t, FILE *out);
#endif
