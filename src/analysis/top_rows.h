/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by key. A row is kept for the next interval if it had an event in this one. */
#ifndef ANALYSIS_TOP_ROWS_H
#define ANALYSIS_TOP_ROWS_H

#include "analysis/top_plan.h"
#include "base/hash.h"

struct top_row {
	const struct top_part *part;     /* that of the interval's first event */
	struct expr_value key;           /* text: followed by zeros up to TOP_TEXT */
	uint64_t events, time;           /* number in this interval; perf clock of the last */
	pid_t task;                      /* the row has this task's name; -1: it has `name` */
	char *name;
	size_t name_room;
	int64_t *sums;                   /* one per column */
	UT_hash_handle hh;
};

struct top_rows {
	struct top_row *rows;
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
