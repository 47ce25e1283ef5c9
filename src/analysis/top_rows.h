/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by key. A row is kept for the next interval if it had an event in this one. */
#ifndef ANALYSIS_TOP_ROWS_H
#define ANALYSIS_TOP_ROWS_H

#include "engine/keys.h"
#include "table/groups.h"

/*
 * For each event of top: its key, its name, and the values that it adds to columns. Compiled from
 * the attributes key=, top-by=, top-add=, comm= and printkey=.
 */

enum { TOP_TEXT = 256 };                 /* bytes of a key that is text; longer ones are cut */

struct top_value {
	struct expr *expr;               /* NULL: analysis_weight() */
	size_t column;
};

/* The expressions of an event. */
struct top_part {
	struct expr *key, *comm, *printkey;   /* comm, printkey: or NULL */
	bool key_is_task;                /* the key is a task's id, and the row has the task's name */
	bool key_is_sampled, key_is_thread;   /* the key is _tid or _pid, which are 0 for tasks outside of the PID
					  * namespace, too; it is _tid */
	bool key_is_outer;               /* in a PID namespace, the id is the kernel's own: ids.h */
	struct top_value *values;
	size_t nvalues;
};

/* Values with the same title share a column, also across events. */
struct top_column {
	char *title;                     /* as given by the user */
	char *name;                      /* for programs: [a-z0-9_]+, unique */
	bool by;                         /* from top-by=: before the others */
	bool is_unsigned;                /* all its values are */
};

struct top_plan {
	struct top_part *parts;          /* one per event: its `consumer` */
	size_t nparts;
	struct top_column *columns;
	size_t ncolumns;
	bool text_keys;                  /* keys are shown as text */
	bool named;                      /* rows have names */
};

/* The parts of a sample that the event's expressions read, for analysis_ops.reads. */
uint64_t top_plan_reads(struct analysis *a, const struct stream_event *event, const char *key);
/* key: -k's text, or NULL. 0, or -1 with f. To be freed also after an error. */
int top_plan_make(struct top_plan *plan, struct analysis *a, const char *key, struct fault *f);
void top_plan_free(struct top_plan *plan);
/* The key as formatted by printkey=; NULL: it is not given, or has no value. key: a number, or text
 * that is followed by zeros up to TOP_TEXT. Valid until the run is used again. */
const char *top_plan_print(const struct top_part *part, struct key_run *run,
			   const struct expr_value *key, size_t *len);

struct top_row {
	const struct top_part *part;     /* that of the interval's first event */
	struct expr_value key;           /* text: followed by zeros up to TOP_TEXT */
	uint64_t events, time;           /* number in this interval; perf clock of the last */
	pid_t task;                      /* the row has this task's name; -1: it has `name` */
	char *name;
	size_t name_room;
	int64_t *sums;                   /* one per column */
};

struct top_rows {
	struct groups rows;              /* of struct top_row */
	size_t ncolumns;
	uint64_t refused;                /* events without a row */
};

/* The row with that key, which is added if it is new. NULL: TOP_MAX_ROWS, or out of memory. */
struct top_row *top_rows_get(struct top_rows *all, const struct top_part *part, const struct expr_value *key);
void top_row_name(struct top_row *row, const char *text, size_t len);
/* Saturates at the largest and the smallest number. */
void top_row_add(struct top_row *row, size_t column, const struct expr_value *value, bool is_unsigned);
/* Begins the next interval: sums are 0, rows without events are removed. */
void top_rows_next(struct top_rows *all);
void top_rows_free(struct top_rows *all);

enum { TOP_MAX_ROWS = 65536 };
#endif
