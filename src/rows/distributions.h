/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations by row, and the table of them: calls, total, quantiles. What a row is - a
 * thread, a system call, a reason - the caller knows, by up to four numbers.
 */
#ifndef ROWS_DISTRIBUTIONS_H
#define ROWS_DISTRIBUTIONS_H

#include "base/hash.h"
#include "engine/analysis.h"
#include "report/histogram.h"
#include "report/table.h"

enum { DISTRIBUTION_KEYS = 4 };

struct distribution {
	uint64_t key[DISTRIBUTION_KEYS];
	struct histogram durations;          /* ns */
	uint64_t errors;                     /* the command's own counts */
	char name[64];                       /* the command's own, set when the row is new */
	UT_hash_handle hh;
};

struct distributions {
	struct distribution *rows;
	uint64_t refused;                    /* values of rows that had no room */
};

/* What is shown of each; in the order in which they are named. */
enum shown {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX,
	SHOW_SHARE,                          /* percent of the time of all rows */
	SHOW_ERRORS,
	SHOWN
};

/* How a command's table looks. */
struct distribution_view {
	const char *name;                    /* of the table */
	const struct table_column *columns;  /* the command's own, to the left */
	size_t ncolumns;
	const enum shown *shown;
	size_t nshown;
	void *ctx;                           /* for put() */
	/* Puts the cells of the command's own columns. */
	void (*put)(void *ctx, const struct distribution *d, struct table *t);
	const struct csv_form *csv;          /* CSV, with titles if `titles`; NULL: text or JSON, as a->opts->json says */
	bool titles;
	const char *share_title;             /* SHOW_SHARE is of `whole`, under this title; NULL: of all rows together */
	uint64_t whole;                      /* ns that are 100 % */
};

/* The row of that key, made where there is none (*fresh); NULL beyond the bound. */
struct distribution *distributions_get(struct distributions *all, const uint64_t key[DISTRIBUTION_KEYS], bool *fresh);
/* All rows, sorted by total, on stdout. from..to: the time that
 * it is about, perf clock; extra: for JSON, is taken over, or NULL. */
void distributions_print(struct analysis *a, struct distributions *all,
			 const struct distribution_view *view, uint64_t from, uint64_t to,
			 struct json_object *extra);
void distributions_clear(struct distributions *all);
#endif
