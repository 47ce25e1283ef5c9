/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as people and programs see it: one structure, three renderings. Text fits the
 * terminal, numbers stand to the right, units in the titles; JSON is one line of one shape
 * for every table (docs/json.md), CSV has the values of JSON.
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
 * Consecutive columns of the same unit name it once.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "report/csv.h"
#include "report/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

enum table_kind {
	TABLE_TEXT,
	TABLE_INTEGER,
	TABLE_HEX,                       /* 0x1f; in JSON a number */
	TABLE_NUMBER,                    /* a double, with `digits` behind the point */
	TABLE_PERCENT,                   /* a double of 0..100, two digits */
	TABLE_DURATION,                  /* ns; as text in `unit`: "ns", "us" (when NULL), "ms", "s" */
	TABLE_TIME,                      /* ns of a clock; as text seconds with six digits */
};

enum table_where { TABLE_EVERYWHERE, TABLE_ONLY_TEXT, TABLE_ONLY_JSON };
enum table_align { TABLE_BY_KIND, TABLE_LEFT, TABLE_RIGHT };   /* text left, the rest right */

struct table_column {
	const char *name;                /* the key in JSON: [a-z0-9_]+ */
	enum table_kind kind;
	const char *title;               /* in text; NULL: the name */
	const char *unit;                /* NULL: none */
	unsigned int digits;             /* of TABLE_NUMBER */
	enum table_where where;
	enum table_align align;
	unsigned int spare;              /* left out of text that is too wide, 1 first; 0: never */
};

struct table_cell;
struct table_row;

struct table {
	const char *name;
	const struct table_column *columns;   /* borrowed, until table_free() */
	size_t ncolumns;
	size_t nrows;
	char *caption;                   /* a line above, in text only; see table_caption() */
	/* private */
	struct table_cell *cells;        /* row by row */
	struct table_row *rows;
	size_t cells_room, rows_room, next;
	char *text;
	size_t text_used, text_room;
	size_t *widths;                  /* the widest so far; then those of the last text */
	uint64_t left_out;               /* of that text: a bit for each column */
	struct json_object *extra;
	bool lost;                       /* something found no memory */
};

/* Nothing fails here; what finds no memory is told by table_print() and table_json(). */
void table_init(struct table *t, const char *name, const struct table_column *columns, size_t n);
void table_free(struct table *t);
/* No rows, caption and extras any more; widths stay, so that intervals line up. */
void table_clear(struct table *t);

/* ---- filling it: a row, then its cells from left to right ------------------------------ */

void table_row(struct table *t);         /* cells that are not given are empty */
void table_text(struct table *t, const char *text);            /* escaped here; NULL: empty */
void table_textn(struct table *t, const char *text, size_t len);
void table_printf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_integer(struct table *t, int64_t value);
void table_unsigned(struct table *t, uint64_t value);
void table_number(struct table *t, double value);              /* no number: empty */
void table_none(struct table *t);                              /* "-", in JSON left out */
/* The current row stands out on a terminal with colours; "marked": true in JSON. */
void table_mark(struct table *t);

/* The current row is a part of the last one that is none: text counts it in no max_rows, JSON has it in that row, in
 * an array of this key (a literal). Such tables are not sorted. */
void table_part(struct table *t, const char *key);

/* A line above the titles, in text only. */
void table_caption(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A member of the JSON object beside "rows": time, interval, lost, ... Takes over value. */
void table_extra(struct table *t, const char *key, struct json_object *value);

/* ---- order ------------------------------------------------------------------------------- */

/* A column's name out of a title: "runtime/1000" is "runtime_1000"; nothing of it left: "value". */
void table_word(const char *title, char *name, size_t size);
/* Which column has that name, or -1. */
int table_find(const struct table *t, const char *name);
/* Rows with the same value stay in the order they have, so the last sort is the first key.
 * Empty cells come last. 0, or -ENOENT: no such column. */
int table_sort(struct table *t, const char *name, bool descending);

/* ---- renderings -------------------------------------------------------------------------- */

struct table_style {
	struct terminal terminal;        /* of the stream; zeroed: no limit, no colour */
	bool no_titles;
	size_t max_rows;                 /* and a line "... N more"; 0: all; parts are not counted */
	const char *match;               /* only rows with a cell that holds this, in any case; or NULL */
};

/* 0, or -ENOMEM where something was lost on the way here. */
int table_print(struct table *t, const struct table_style *style, FILE *out);
/* One line:
 * {"table":NAME, EXTRA..., "columns":[{"name":..,"kind":..,"unit":..}], "rows":[{NAME:VALUE}]}
 * with all rows. 0, -ENOMEM, or -EIO. */
int table_json(const struct table *t, FILE *out);
/* The columns and values of JSON as rows of CSV, with the table's time in the first column; titles: after a line of titles.
 * 0, or -ENOMEM. */
int table_csv(const struct table *t, const char *time, bool titles, struct csv_form form, FILE *out);
#endif
