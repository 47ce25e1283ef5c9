/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of durations for each row, and the table with their calls, totals and quantiles. The
 * caller defines a row (a thread, a system call, a reason) by a key of up to four numbers.
 */
#ifndef ROWS_DISTRIBUTIONS_H
#define ROWS_DISTRIBUTIONS_H

#include "engine/analysis.h"
#include "report/table.h"
#include "table/groups.h"
#include "table/histogram.h"

#include <stdint.h>
#include <stdio.h>

/* Durations counted in buckets of BUCKETS_TIMES, for a picture in text. */
struct hist_bucket {
	uint64_t low, n;                     /* ns */
};

struct json_object;

/* Of struct hist_bucket. */
void hist_add(struct groups *hist, uint64_t ns);
/* Prints the buckets from the first to the last one with durations, a line each, with bars of at most `width` characters. */
void hist_print(struct groups *hist, unsigned int width, FILE *out);
/* The buckets with durations, in an array: "from", "to" (ns; no "to": no end), "calls". NULL: out of memory. */
struct json_object *hist_json(struct groups *hist);

enum { DISTRIBUTION_KEYS = 4 };

struct distribution {
	uint64_t key[DISTRIBUTION_KEYS];
	struct histogram durations;          /* ns */
	struct groups hist;                  /* of struct hist_bucket */
	uint64_t errors;                     /* distribution_failed() counts them */
	struct groups errnos;                /* of struct row_errno */
	char name[64];                       /* set by the caller */
};

struct row_errno {
	uint64_t error, n;
};

struct distributions {
	struct groups rows;                  /* of struct distribution */
	uint64_t refused;                    /* durations that are not in the table: it is full */
};

/* Columns about a row's durations. */
enum shown {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX,
	SHOW_SHARE,                          /* percent of the time of all rows */
	SHOW_ERRORS,
	SHOW_ERRNOS,                         /* which errors, in CSV only: "ENOENT:37 EBADF:2"; too many of them end with "..." */
	SHOWN
};

/* The layout of a command's table. */
struct distribution_view {
	const char *name;                    /* the table's name */
	const struct table_column *columns;  /* the command's own, left of `shown` */
	size_t ncolumns;
	const enum shown *shown;
	size_t nshown;
	void *ctx;                           /* for put() */
	/* Puts the cells of the command's own columns. */
	void (*put)(void *ctx, const struct distribution *d, struct table *t);
	const struct table_column *last;     /* more, right of `shown`, which a narrow terminal needs more than durations */
	size_t nlast;
	void (*put_last)(void *ctx, const struct distribution *d, struct table *t);
	bool cuts_last;                      /* but not these: they are cut */
	const char *order;                   /* the column by which rows are sorted; NULL: "total" */
	void (*more)(void *ctx, struct table *t);   /* for JSON: adds members with table_extra(); or NULL */
	const struct csv_form *csv;          /* NULL: JSON or text, according to a->opts->json */
	bool titles;                         /* CSV: with a title line */
	const char *share_title;             /* SHOW_SHARE is of `whole`, with this title; NULL: of all rows together */
	uint64_t whole;                      /* ns that are 100 % */
	const char *calls_title;             /* of SHOW_CALLS in text; NULL: "calls" */
	size_t max_rows;                     /* in text; 0: all */
	const char *all_by;                  /* the option that shows all */
};

/* The row with that key, which is added if it is new (*fresh). NULL: out of memory, or the table is full. */
struct distribution *distributions_get(struct distributions *all, const uint64_t key[DISTRIBUTION_KEYS], bool *fresh);
/* Counts an error of that number. */
void distribution_failed(struct distribution *d, int error);
/* Adds the errors of another row. */
void distribution_add_failed(struct distribution *d, const struct distribution *from);
/* Prints all rows on stdout, the largest first. from..to: the time that the table covers, perf clock.
 * extra: only for JSON (is taken over), or NULL. */
void distributions_print(struct analysis *a, struct distributions *all,
			 const struct distribution_view *view, uint64_t from, uint64_t to,
			 struct json_object *extra);
/* The largest total comes first. */
void distributions_sort(struct distributions *all);
void distributions_clear(struct distributions *all);
#endif
