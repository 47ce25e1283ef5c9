/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What top makes of its events: of each its key, its name and what it adds to which
 * columns, compiled from the attributes key=, top-by=, top-add=, comm= and printkey=.
 */
#ifndef ANALYSIS_TOP_PLAN_H
#define ANALYSIS_TOP_PLAN_H

#include "engine/keys.h"

enum { TOP_TEXT = 256 };                 /* bytes of a key that is text; what is longer is cut */

struct top_value {
	struct expr *expr;               /* NULL: what the sample stands for: its period, of a tracepoint 1 */
	size_t column;
};

/* An event's part. */
struct top_part {
	struct expr *key, *comm, *printkey;   /* comm, printkey: NULL without */
	bool key_is_task;                /* the key is the number of a task, which names the row */
	bool key_is_outer;               /* and, in a PID namespace, one of the kernel's own: ids.h */
	struct top_value *values;
	size_t nvalues;
};

/* Values of the same title are of one column, of whatever event. */
struct top_column {
	char *title;                     /* as the user wrote it */
	char *name;                      /* for programs: [a-z0-9_]+, none twice */
	bool by;                         /* of top-by=: before the others */
	bool is_unsigned;                /* all that is added is */
};

struct top_plan {
	struct top_part *parts;          /* as many as events, whose `consumer` they are */
	size_t nparts;
	struct top_column *columns;
	size_t ncolumns;
	bool text_keys;                  /* keys are shown as text */
	bool named;                      /* rows have names */
};

/* What the event's part reads of a sample, for analysis_ops.reads. */
uint64_t top_plan_reads(struct analysis *a, const struct stream_event *event, const char *key);
/* -k's text, or NULL. 0, or -1 with f. To be freed in any case. */
int top_plan_make(struct top_plan *plan, struct analysis *a, const char *key, struct fault *f);
void top_plan_free(struct top_plan *plan);

/* The key as printkey= says it; NULL: it says nothing. key: a number, or text that is
 * followed by zeros up to TOP_TEXT. Valid until the run is used again. */
const char *top_plan_print(const struct top_part *part, struct key_run *run,
			   const struct expr_value *key, size_t *len);
#endif
