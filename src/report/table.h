/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table for people and programs: one structure, three renderings. Text fits the terminal, numbers
 * are right-aligned, units are in the titles; JSON is one line with the same structure for every
 * table (docs/json.md); CSV has the values of JSON.
 *
 *	static const struct table_column columns[] = {
 *		{ "thread", TABLE_TEXT },
 *		{ "calls", TABLE_INTEGER },
 *		{ "total", TABLE_DURATION }, { "p50", TABLE_DURATION }, { "max", TABLE_DURATION },
 *		{ "share", TABLE_PERCENT, .title = "%total" },
 *	};
 *	struct table t;
 *
 *	table_init(&t, "syscalls", columns, 6);
 *	table_row(&t);
 *	table_text(&t, comm);
 *	table_unsigned(&t, h->count);
 *	table_unsigned(&t, h->sum);                ns
 *	...
 *	table_sort(&t, "total", true);
 *	table_print(&t, &style, stdout);           or table_json(&t, stdout)
 *	table_clear(&t);                           the next interval: columns keep their widths
 *	table_free(&t);
 *
 *	thread  calls  total(us)    p50     max  %total
 *	bash 7     12    345.678  1.200  80.000   99.10
 *
 * Only the first of consecutive columns with the same unit shows it.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "report/csv.h"
#include "report/fit.h"
#include "report/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct json_object;

enum table_kind {
	TABLE_TEXT,
	TABLE_INTEGER,
	TABLE_HEX,                       /* 0x1f; in JSON a number */
	TABLE_NUMBER,                    /* a double with `digits` decimals */
	TABLE_PERCENT,                   /* a double, 0..100, two decimals */
	TABLE_DURATION,                  /* ns; as text in `unit`: "ns", "us" (NULL), "ms", "s" */
	TABLE_TIME,                      /* ns of a clock; as text in seconds with six decimals */
};

enum table_where { TABLE_EVERYWHERE, TABLE_ONLY_TEXT, TABLE_ONLY_JSON };
enum table_align { TABLE_BY_KIND, TABLE_LEFT, TABLE_RIGHT };   /* default: text left, numbers right */

struct table_column {
	const char *name;                /* the key in JSON: [a-z0-9_]+ */
	enum table_kind kind;
	const char *title;               /* in text; NULL: the name */
	const char *unit;                /* NULL: none */
	unsigned int digits;             /* for TABLE_NUMBER */
	enum table_where where;
	enum table_align align;
	enum fit fit;                    /* what is left out of a text that is too long; default: its end */
	unsigned int most;               /* width of a text column if nothing is cut off: a longer text only widens its
					  * own row; 0: 48 */
	unsigned int spare;              /* order in which columns are left out if the text is
					  * too wide, 1 first; 0: never */
};

struct table_cell;
struct table_row;

struct table {
	const char *name;
	const struct table_column *columns;   /* borrowed until table_free() */
	size_t ncolumns;
	size_t nrows;
	char *caption;                   /* lines above, in text only */
	char *below;                     /* lines below, in the text of JSON only */
	/* private */
	struct table_cell *cells;        /* row by row */
	struct table_row *rows;
	size_t cells_room, rows_room, next;
	char *text;
	size_t text_used, text_room;
	size_t *widths;                  /* the largest so far; then those of the last text */
	uint64_t left_out;               /* in that text: a bit for each column */
	struct json_object *extra;
	bool lost;                       /* something was lost because memory ran out */
};

/* These functions do not fail; table_print() and table_json() report if memory ran out. */
void table_init(struct table *t, const char *name, const struct table_column *columns, size_t n);
void table_free(struct table *t);
/* Removes rows, caption and extras; keeps the widths, so that intervals line up. */
void table_clear(struct table *t);

/* ---- contents: a row, then its cells from left to right -------------------------------- */

void table_row(struct table *t);         /* missing cells are empty */
void table_text(struct table *t, const char *text);            /* escaped here; NULL: empty */
void table_textn(struct table *t, const char *text, size_t len);
void table_printf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_integer(struct table *t, int64_t value);
void table_unsigned(struct table *t, uint64_t value);
void table_task(struct table *t, pid_t tid);                   /* its id, as pidmap_shown(); table_none() if that is not known */
void table_number(struct table *t, double value);              /* NaN and infinity: empty */
void table_none(struct table *t);                              /* "-", omitted in JSON */
/* Highlights the current row on a terminal with colours; "marked": true in JSON. */
void table_mark(struct table *t);

/* The current row is a part of the last row that is not a part. In text, parts do not count for max_rows.
 * In JSON it is in that row, in an array with this key (a literal). Tables with parts are not sorted. */
void table_part(struct table *t, const char *key);

/* A line above the titles, in text only; table_caption_more() adds another line to it. */
void table_caption(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_caption_more(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Lines below the table, each with its end, in the "text" of JSON only. Takes over text, which is escaped. */
void table_below(struct table *t, char *text);
/* Adds a member to the JSON object next to "rows": time, interval, lost, ... Takes over value. */
void table_extra(struct table *t, const char *key, struct json_object *value);

/* ---- columns and order -------------------------------------------------------------------- */

/* Makes a column's name from a title: "runtime/1000" is "runtime_1000"; if nothing is left: "value". */
void table_word(const char *title, char *name, size_t size);
/* Index of the column with that name, or -1. */
int table_find(const struct table *t, const char *name);
/* Sorts the rows. The sort is stable, so the last one is the primary key. Empty cells come last.
 * 0, or -ENOENT: no such column. */
int table_sort(struct table *t, const char *name, bool descending);

/* ---- renderings -------------------------------------------------------------------------- */

struct table_style {
	struct terminal terminal;        /* of the stream; zeroed: no limits, no colour */
	bool no_titles;
	const char *all_by;              /* the option that shows all rows, for that line; NULL: not named */
	size_t max_rows;                 /* then a line "... N more"; 0: all; parts do not count */
	const char *match;               /* only rows with a cell that contains this, ignoring case; or NULL */
};

/* 0, or -ENOMEM if something was lost. */
int table_print(struct table *t, const struct table_style *style, FILE *out);
/* One line:
 * {"table":NAME, EXTRA..., "columns":[{"name":..,"kind":..,"unit":..}], "rows":[{NAME:VALUE}]}
 * with all rows. as_text: also "text", what table_print() prints in that style, but for no terminal, and the
 * lines below; NULL: without it. 0, -ENOMEM, or -EIO. */
int table_json(struct table *t, const struct table_style *as_text, FILE *out);
/* The columns and values of JSON as rows of CSV, with the table's time in the first column (NULL: without it); titles: after a line of titles.
 * 0, or -ENOMEM. */
int table_csv(const struct table *t, const char *time, bool titles, struct csv_form form, FILE *out);
#endif
