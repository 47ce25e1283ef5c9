/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by key. Rows live from interval to interval as long as something comes to them. */
#ifndef ANALYSIS_TOP_ROWS_H
#define ANALYSIS_TOP_ROWS_H

#include "analysis/top_plan.h"
#include "base/hash.h"

struct top_row {
	const struct top_part *part;     /* of the event that made it */
	struct expr_value key;           /* text: followed by zeros up to TOP_TEXT */
	uint64_t events, time;           /* of this interval; perf clock of the last */
	pid_t task;                      /* which names it; -1: name does */
	char *name;
	size_t name_room;
	int64_t *sums;                   /* as many as columns */
	UT_hash_handle hh;
};

struct top_rows {
	struct top_row *rows;
	size_t ncolumns;
	uint64_t refused;                /* events of rows that had no room */
};

/* The row of that key, made where there is none; NULL beyond the bound. */
struct top_row *top_rows_get(struct top_rows *all, const struct top_part *part, const struct expr_value *key);
void top_row_name(struct top_row *row, const char *text, size_t len);
/* Stops at the largest number there is, and at the least. */
void top_row_add(struct top_row *row, size_t column, const struct expr_value *value, bool is_unsigned);
/* The next interval: sums are 0, rows to which nothing came are gone. */
void top_rows_next(struct top_rows *all);
void top_rows_free(struct top_rows *all);

enum { TOP_MAX_ROWS = 65536 };
#endif
