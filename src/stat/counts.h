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
	const char *unit;        /* of value * scale; NULL: none */
	double scale;
	double value;            /* estimate, unscaled; the mean of several runs */
	double counted;          /* as counted; equal to value unless multiplexed */
	uint64_t enabled, running;   /* ns, sum of all counters */
	double share;            /* of the time it ran, 0..1; 1: value is exact */
	struct stats runs;       /* n > 1: statistics of value */
	struct count_metric metric;
};

static inline bool count_was_open(const struct count_row *r)
{
	return r->state == COUNT_GOOD || r->state == COUNT_NEVER_RAN;
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
};

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
};

struct compared_table {
	const char *a, *b;       /* the commands, as typed */
	double confidence;       /* 0.95 */
	struct compared_row *rows;
	size_t n;
	const struct compared_row *elapsed;  /* of these rows; NULL: no run was complete */
};

void compared_text(const struct compared_table *t, FILE *out);
void compared_csv(const struct compared_table *t, struct csv_form form, FILE *out);
int compared_json(const struct compared_table *t, FILE *out);
#endif
