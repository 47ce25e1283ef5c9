/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a table: cells by row, with escaped text in one arena. */
#include "report/table.h"

#include "base/columns.h"
#include "base/escape.h"
#include "base/room.h"
#include "report/fit.h"
#include "report/json.h"
#include "tasks/pidmap.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum table_cell_type { CELL_NONE, CELL_TEXT, CELL_INTEGER, CELL_UNSIGNED, CELL_NUMBER };

struct table_cell {
	enum table_cell_type type;
	union {
		size_t text;             /* offset in the table's text; escaped */
		int64_t integer;
		uint64_t natural;
		double number;
	};
};

struct table_row {
	size_t first;                    /* index of its first cell */
	size_t rank;                     /* position before the sort */
	bool marked;
	const char *part;                /* key of the part in the row above; NULL: a row of its own */
	bool wanted;                     /* selected by the style for printing */
};

/* A table as CSV: the columns and values of its JSON. */

static void csv_put_cell(const struct table *t, const struct table_cell *cell, struct csv_form form, FILE *out)
{
	if (cell->type == CELL_TEXT)
		csv_text(t->text + cell->text, form, out);
	else if (cell->type == CELL_INTEGER)
		fprintf(out, "%lld", (long long)cell->integer);
	else if (cell->type == CELL_UNSIGNED)
		fprintf(out, "%llu", (unsigned long long)cell->natural);
	else if (cell->type == CELL_NUMBER)
		fprintf(out, "%.15g", cell->number);
}

/* first: whether it is the first cell of its line; then it is not any more. */
static void separate(bool *first, char separator, FILE *out)
{
	if (!*first)
		fputc(separator, out);
	*first = false;
}

static void csv_put_titles(const struct table *t, bool timed, char separator, FILE *out)
{
	bool first = !timed;

	if (timed)
		fputs("time", out);
	for (size_t i = 0; i < t->ncolumns; i++)
		if (t->columns[i].where != TABLE_ONLY_TEXT) {
			separate(&first, separator, out);
			fputs(t->columns[i].name, out);
		}
	fputc('\n', out);
}

int table_csv(const struct table *t, const char *time, bool titles, struct csv_form form, FILE *out)
{
	if (titles)
		csv_put_titles(t, time, form.separator, out);
	for (size_t r = 0; r < t->nrows; r++) {
		bool first = !time;

		csv_text(time, form, out);
		for (size_t i = 0; i < t->ncolumns; i++)
			if (t->columns[i].where != TABLE_ONLY_TEXT) {
				separate(&first, form.separator, out);
				csv_put_cell(t, &t->cells[t->rows[r].first + i], form, out);
			}
		fputc('\n', out);
	}
	return t->lost ? -ENOMEM : 0;
}

/* A table as one line of JSON, in the same format for all tables. */

static const struct {
	const char *name, *unit;         /* unit: of the JSON value, whatever the text has */
} kinds[] = {
	[TABLE_TEXT] = { "text", NULL },       [TABLE_INTEGER] = { "integer", NULL },
	[TABLE_HEX] = { "hex", NULL },         [TABLE_NUMBER] = { "number", NULL },
	[TABLE_PERCENT] = { "percent", "%" },  [TABLE_DURATION] = { "duration", "ns" },
	[TABLE_TIME] = { "time", "ns" },
};

static bool append_column(json_object *to, const struct table_column *c)
{
	json_object *o = json_object_new_object();

	return json_append(to, o) && json_put_text(o, "name", c->name) &&
	       json_put_text(o, "kind", kinds[c->kind].name) &&
	       json_put_text(o, "unit", kinds[c->kind].unit ? kinds[c->kind].unit : c->unit);
}

static bool json_put_cell(json_object *to, const struct table *t, const char *name,
		     const struct table_cell *cell)
{
	switch (cell->type) {
	case CELL_TEXT:   /* escaped already */
		return json_put(to, name, json_object_new_string(t->text + cell->text));
	case CELL_INTEGER:
		return json_put_integer(to, name, cell->integer);
	case CELL_UNSIGNED:
		return json_put_unsigned(to, name, cell->natural);
	case CELL_NUMBER:
		return json_put_number(to, name, cell->number);
	default:
		return true;
	}
}

/* The array for the row: for a part, that in its whole row. NULL: out of memory. */
static json_object *array_of(json_object *rows, const struct table_row *row)
{
	json_object *whole, *parts;

	if (!row->part)
		return rows;
	whole = json_object_array_get_idx(rows, json_object_array_length(rows) - 1);
	if (json_object_object_get_ex(whole, row->part, &parts))
		return parts;
	parts = json_object_new_array();
	return json_put(whole, row->part, parts) ? parts : NULL;
}

static bool append_row(json_object *rows, const struct table *t, const struct table_row *row)
{
	json_object *to = array_of(rows, row), *o = to ? json_object_new_object() : NULL;

	if (!to || !json_append(to, o))
		return false;
	for (size_t i = 0; i < t->ncolumns; i++)
		if (t->columns[i].where != TABLE_ONLY_TEXT &&
		    !json_put_cell(o, t, t->columns[i].name, &t->cells[row->first + i]))
			return false;
	return !row->marked || json_put_bool(o, "marked", true);
}

static bool put_extras(json_object *root, const struct table *t)
{
	if (!t->extra)
		return true;
	json_object_object_foreach(t->extra, key, value)
		if (!json_put(root, key, json_object_get(value)))
			return false;
	return true;
}

static bool fill(json_object *root, const struct table *t)
{
	json_object *columns = json_object_new_array(), *rows = json_object_new_array();

	if (!json_put_text(root, "table", t->name) || !put_extras(root, t) ||
	    !json_put(root, "columns", json_object_get(columns)) ||
	    !json_put(root, "rows", json_object_get(rows)))
		goto failed;
	for (size_t i = 0; i < t->ncolumns; i++)
		if (t->columns[i].where != TABLE_ONLY_TEXT && !append_column(columns, &t->columns[i]))
			goto failed;
	for (size_t i = 0; i < t->nrows; i++)
		if (!append_row(rows, t, &t->rows[i]))
			goto failed;
	json_object_put(columns);
	json_object_put(rows);
	return !t->lost;
failed:
	json_object_put(columns);
	json_object_put(rows);
	return false;
}

static bool put_as_text(json_object *root, struct table *t, const struct table_style *style)
{
	struct table_style plain = *style;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool good;

	if (!out)
		return false;
	plain.terminal = (struct terminal){ 0 };
	good = !table_print(t, &plain, out);
	fputs(t->below ? t->below : "", out);
	good &= !fclose(out);
	good = good && json_put(root, "text", json_object_new_string(text));   /* escaped already */
	free(text);
	return good;
}

int table_json(struct table *t, const struct table_style *as_text, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_line(root, root && fill(root, t) && (!as_text || put_as_text(root, t, as_text)), out);
}

/*
 * A table as text. The width of a column is that of its widest cell, in this table and the ones before (so that
 * intervals line up). If the output is not a terminal, nothing is cut off, and a long text only widens its own row.
 * If the terminal is too narrow, first the gaps shrink, then the least important columns are left out
 * (table_column.spare), then paths lose folders, then text columns get narrower, the widest first; numbers are never
 * cut off.
 */

enum { CELL_SIZE = 400, LEAST_TEXT = 8, MOST_TEXT = 48, MASKED = 64 };   /* CELL_SIZE: for 1e308 with its digits */

static const char bold[] = "\033[1m", red[] = "\033[31m", plain[] = "\033[0m";

/* ---- cells ------------------------------------------------------------------------------- */

static const struct duration_unit {
	const char *name;
	double ns;
	int digits;
} duration_units[] = {
	{ "us", 1e3, 3 }, { "ns", 1, 0 }, { "ms", 1e6, 3 }, { "s", 1e9, 6 },
};

static const struct duration_unit *duration_unit(const struct table_column *c)
{
	for (size_t i = 0; c->unit && i < sizeof(duration_units) / sizeof(*duration_units); i++)
		if (!strcmp(c->unit, duration_units[i].name))
			return &duration_units[i];
	return &duration_units[0];
}

/* The unit in the title; NULL: none. */
static const char *unit_of(const struct table_column *c)
{
	return c->kind == TABLE_DURATION ? duration_unit(c)->name : c->unit;
}

static double number_of(const struct table_cell *cell)
{
	return cell->type == CELL_NUMBER    ? cell->number
	       : cell->type == CELL_INTEGER ? (double)cell->integer : (double)cell->natural;
}

static void whole_text(const struct table_cell *cell, char *buf)
{
	if (cell->type == CELL_UNSIGNED)
		snprintf(buf, CELL_SIZE, "%" PRIu64, cell->natural);
	else if (cell->type == CELL_INTEGER)
		snprintf(buf, CELL_SIZE, "%" PRId64, cell->integer);
	else
		snprintf(buf, CELL_SIZE, "%.0f", cell->number);
}

static void scaled_text(const struct table_cell *cell, double scale, int digits, char *buf)
{
	snprintf(buf, CELL_SIZE, "%.*f", digits, number_of(cell) / scale);
}

/* The text of a cell: stored, or formatted into buf. */
static const char *cell_text(const struct table *t, const struct table_column *c,
			     const struct table_cell *cell, char *buf)
{
	if (cell->type == CELL_TEXT)
		return t->text + cell->text;
	if (cell->type == CELL_NONE)
		return c->kind == TABLE_TEXT ? "" : "-";
	switch (c->kind) {
	case TABLE_HEX:
		snprintf(buf, CELL_SIZE, "0x%" PRIx64, cell->natural);
		break;
	case TABLE_NUMBER:
		scaled_text(cell, 1, c->digits < 18 ? (int)c->digits : 18, buf);
		break;
	case TABLE_PERCENT:
		scaled_text(cell, 1, 2, buf);
		break;
	case TABLE_DURATION:
		scaled_text(cell, duration_unit(c)->ns, duration_unit(c)->digits, buf);
		break;
	case TABLE_TIME:
		scaled_text(cell, 1e9, 6, buf);
		break;
	default:
		whole_text(cell, buf);
	}
	return buf;
}

/* ---- columns ------------------------------------------------------------------------------ */

static bool is_shown(const struct table *t, size_t i)
{
	return t->columns[i].where != TABLE_ONLY_JSON && !(i < MASKED && t->left_out >> i & 1);
}

/* The title of column i, followed by its unit if that differs from the previous column's. */
static const char *title_text(const struct table *t, size_t i, char *buf)
{
	const struct table_column *c = &t->columns[i];
	const char *title = c->title ? c->title : c->name, *unit = unit_of(c), *before = NULL;

	for (size_t k = i; k-- > 0;)
		if (is_shown(t, k)) {
			before = unit_of(&t->columns[k]);
			break;
		}
	if (!unit || (before && !strcmp(before, unit)))
		return title;
	snprintf(buf, CELL_SIZE, "%s(%s)", title, unit);
	return buf;
}

static size_t title_width(const struct table *t, size_t i, bool titles)
{
	char buf[CELL_SIZE];

	return titles ? columns_of(title_text(t, i, buf)) : 1;
}

/* Whether the row is selected by style->match. */
static bool matches(const struct table *t, const struct table_style *style, const struct table_row *row)
{
	char buf[CELL_SIZE];

	if (!style->match)
		return true;
	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_shown(t, i) &&
		    strcasestr(cell_text(t, &t->columns[i], &t->cells[row->first + i], buf), style->match))
			return true;
	return false;
}

/* Selects the rows to print, with their parts. Returns the number of selected rows that are not printed. */
static size_t choose(struct table *t, const struct table_style *style)
{
	size_t all = 0, most = style->max_rows ? style->max_rows : SIZE_MAX;
	bool wanted = false;

	for (size_t r = 0; r < t->nrows; r++) {
		if (!t->rows[r].part) {
			wanted = matches(t, style, &t->rows[r]);
			all += wanted;
			wanted &= all <= most;
		}
		t->rows[r].wanted = wanted;
	}
	return all > most ? all - most : 0;
}

static void widen(struct table *t, const struct table_style *style)
{
	char buf[CELL_SIZE];

	for (size_t i = 0; i < t->ncolumns; i++) {
		size_t most = title_width(t, i, !style->no_titles);

		for (size_t r = 0; r < t->nrows; r++) {
			const struct table_cell *cell = &t->cells[t->rows[r].first + i];
			size_t width;

			if (!t->rows[r].wanted)
				continue;
			width = columns_of(cell_text(t, &t->columns[i], cell, buf));
			most = width > most ? width : most;
		}
		t->widths[i] = most > t->widths[i] ? most : t->widths[i];
	}
}

static size_t total(const struct table *t, const size_t *widths, size_t gap)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_shown(t, i))
			sum += widths[i] + gap;
	return sum > gap ? sum - gap : 0;
}

/* The widest text column that can still get narrower; ncolumns: none. */
static size_t widest(const struct table *t, const size_t *widths)
{
	size_t found = t->ncolumns;

	for (size_t i = 0; i < t->ncolumns; i++) {
		if (!is_shown(t, i) || t->columns[i].kind != TABLE_TEXT || widths[i] <= LEAST_TEXT)
			continue;
		if (found == t->ncolumns || widths[i] > widths[found])
			found = i;
	}
	return found;
}

/* The width of a column of paths without their folders. */
static size_t least_width(const struct table *t, size_t i, bool titles)
{
	size_t most = title_width(t, i, titles);

	most = most > LEAST_TEXT ? most : LEAST_TEXT;
	for (size_t r = 0; r < t->nrows; r++) {
		const struct table_cell *cell = &t->cells[t->rows[r].first + i];
		const size_t width = t->rows[r].wanted && cell->type == CELL_TEXT ? fit_path_least(t->text + cell->text) : 0;

		most = width > most ? width : most;
	}
	return most;
}

/* Paths lose folders until `excess` columns are gained. */
static void narrow_paths(struct table *t, size_t *widths, size_t excess, bool titles)
{
	for (size_t i = 0; i < t->ncolumns && excess; i++) {
		const size_t least = is_shown(t, i) && t->columns[i].fit == FIT_PATH ? least_width(t, i, titles) : SIZE_MAX;
		size_t gain = least < widths[i] ? widths[i] - least : 0;

		gain = gain < excess ? gain : excess;
		widths[i] -= gain;
		excess -= gain;
	}
}

/* The next column to leave out; ncolumns: none. */
static size_t least(const struct table *t)
{
	size_t found = t->ncolumns;

	for (size_t i = 0; i < t->ncolumns && i < MASKED; i++)
		if (is_shown(t, i) && t->columns[i].spare &&
		    (found == t->ncolumns || t->columns[i].spare < t->columns[found].spare))
			found = i;
	return found;
}

/* Its unit may move to the next title. */
static void leave_out(struct table *t, size_t column, size_t *widths, bool titles)
{
	t->left_out |= UINT64_C(1) << column;
	for (size_t i = column + 1; i < t->ncolumns; i++) {
		size_t width = title_width(t, i, titles);

		widths[i] = width > widths[i] ? width : widths[i];
	}
}

struct layout {
	size_t *widths;
	size_t gap;
	bool colour, cuts;
};

static void bound(const struct table *t, size_t *widths)
{
	for (size_t i = 0; i < t->ncolumns; i++) {
		const size_t most = t->columns[i].most ? t->columns[i].most : MOST_TEXT;

		if (t->columns[i].kind == TABLE_TEXT && widths[i] > most)
			widths[i] = most;
	}
}

static void fit(struct table *t, const struct table_style *style, struct layout *l)
{
	size_t room = style->terminal.columns, i;

	l->cuts = room;
	if (!room)
		bound(t, l->widths);
	l->gap = room && total(t, l->widths, 2) > room ? 1 : 2;
	while (room && total(t, l->widths, l->gap) > room && (i = least(t)) < t->ncolumns)
		leave_out(t, i, l->widths, !style->no_titles);
	if (room && total(t, l->widths, l->gap) > room)
		narrow_paths(t, l->widths, total(t, l->widths, l->gap) - room, !style->no_titles);
	while (room && total(t, l->widths, l->gap) > room && (i = widest(t, l->widths)) < t->ncolumns)
		l->widths[i]--;
}

/* ---- lines -------------------------------------------------------------------------------- */

/* Spaces are written only before further text: no line ends with them. */
struct line {
	FILE *out;
	size_t blanks;
};

static void put_bytes(struct line *line, const char *text, size_t n)
{
	if (!n)
		return;
	fprintf(line->out, "%*s", (int)line->blanks, "");
	line->blanks = 0;
	fwrite(text, 1, n, line->out);
}

static void put_field(struct line *line, const char *text, size_t width, bool right, bool cuts)
{
	static const char more[] = "\xe2\x80\xa6";   /* … */
	size_t have = columns_of(text), bytes = strlen(text);
	bool cut = cuts && have > width;

	if (have > width && !cuts) {
		width = have;
	} else if (cut) {
		bytes = columns_fit(text, width - 1);
		have = width - 1;   /* or fewer, before a wide character */
		for (; have && columns_fit(text, have - 1) == bytes; have--)
			;
		have++;
	}
	if (right)
		line->blanks += width - have;
	put_bytes(line, text, bytes);
	put_bytes(line, more, cut ? sizeof(more) - 1 : 0);
	if (!right)
		line->blanks += width - have;
}

static bool is_right(const struct table_column *c)
{
	return c->align == TABLE_RIGHT || (c->align == TABLE_BY_KIND && c->kind != TABLE_TEXT);
}

static void text_put_cell(const struct table *t, const struct layout *l, size_t i, const char *text,
		     struct line *line)
{
	char buf[FIT_MAX];

	if (l->cuts && t->columns[i].fit && l->widths[i])
		text = fit_text(t->columns[i].fit, text, l->widths[i], buf);
	put_field(line, text, l->widths[i], is_right(&t->columns[i]), l->cuts);
	line->blanks += l->gap;
}

static void text_put_titles(const struct table *t, const struct layout *l, FILE *out)
{
	struct line line = { out, 0 };
	char buf[CELL_SIZE];

	fputs(l->colour ? bold : "", out);
	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_shown(t, i))
			text_put_cell(t, l, i, title_text(t, i, buf), &line);
	fprintf(out, "%s\n", l->colour ? plain : "");
}

static void put_row(const struct table *t, const struct layout *l, const struct table_row *row,
		    FILE *out)
{
	bool colour = l->colour && row->marked;
	struct line line = { out, 0 };
	char buf[CELL_SIZE];

	fputs(colour ? red : "", out);
	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_shown(t, i))
			text_put_cell(t, l, i, cell_text(t, &t->columns[i], &t->cells[row->first + i], buf),
				 &line);
	fprintf(out, "%s\n", colour ? plain : "");
}

int table_print(struct table *t, const struct table_style *style, FILE *out)
{
	struct layout l = { .colour = style->terminal.colour };
	size_t left_out;

	if (!t->widths)
		return -ENOMEM;
	t->left_out = 0;
	left_out = choose(t, style);
	widen(t, style);
	l.widths = t->widths + t->ncolumns;
	memcpy(l.widths, t->widths, t->ncolumns * sizeof(*l.widths));
	fit(t, style, &l);
	if (t->caption)
		fprintf(out, "%s\n", t->caption);
	if (!style->no_titles)
		text_put_titles(t, &l, out);
	for (size_t r = 0; r < t->nrows; r++)
		if (t->rows[r].wanted)
			put_row(t, &l, &t->rows[r], out);
	if (left_out)
		fprintf(out, style->all_by ? "... %zu more (%s shows all)\n" : "... %zu more\n", left_out, style->all_by);
	return t->lost ? -ENOMEM : 0;
}

void table_init(struct table *t, const char *name, const struct table_column *columns, size_t n)
{
	*t = (struct table){ .name = name, .columns = columns, .ncolumns = n };
	t->widths = calloc(2 * n + 1, sizeof(*t->widths));
	t->lost = !t->widths;
}

void table_clear(struct table *t)
{
	t->nrows = t->text_used = 0;
	t->next = t->ncolumns;
	free(t->caption);
	free(t->below);
	t->caption = t->below = NULL;
	json_object_put(t->extra);
	t->extra = NULL;
	t->lost = !t->widths;
}

void table_free(struct table *t)
{
	table_clear(t);
	free(t->cells);
	free(t->rows);
	free(t->text);
	free(t->widths);
	*t = (struct table){ 0 };
}

/* ---- contents --------------------------------------------------------------------- */

void table_row(struct table *t)
{
	size_t first = t->nrows * t->ncolumns;

	t->next = t->ncolumns;   /* if no row is added, its cells are ignored */
	if (!ROOM_FOR(t->rows, t->rows_room, t->nrows, 1) ||
	    !ROOM_FOR(t->cells, t->cells_room, first, t->ncolumns)) {
		t->lost = true;
		return;
	}
	memset(&t->cells[first], 0, t->ncolumns * sizeof(*t->cells));
	t->rows[t->nrows++] = (struct table_row){ .first = first };
	t->next = 0;
}

static void put(struct table *t, struct table_cell cell)
{
	if (t->nrows && t->next < t->ncolumns)
		t->cells[t->rows[t->nrows - 1].first + t->next++] = cell;
}

void table_textn(struct table *t, const char *text, size_t len)
{
	struct table_cell cell = { .type = CELL_TEXT, .text = t->text_used };

	/* each byte may become \xNN */
	if (!ROOM_FOR(t->text, t->text_room, t->text_used, 4 * len + 1)) {
		t->lost = true;
		table_none(t);
		return;
	}
	t->text_used += escape_terminal(text, len, t->text + t->text_used, 4 * len + 1) + 1;
	put(t, cell);
}

void table_text(struct table *t, const char *text)
{
	if (text)
		table_textn(t, text, strlen(text));
	else
		table_none(t);
}

void table_printf(struct table *t, const char *fmt, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0) {
		t->lost = true;
		table_none(t);
		return;
	}
	table_textn(t, text, (size_t)len);
	free(text);
}

void table_integer(struct table *t, int64_t value)
{
	put(t, (struct table_cell){ .type = CELL_INTEGER, .integer = value });
}

void table_unsigned(struct table *t, uint64_t value)
{
	put(t, (struct table_cell){ .type = CELL_UNSIGNED, .natural = value });
}

void table_task(struct table *t, pid_t tid)
{
	if (pidmap_has_number(tid))
		table_integer(t, pidmap_shown(tid));
	else
		table_none(t);
}

void table_number(struct table *t, double value)
{
	bool is = !isnan(value) && !isinf(value);

	put(t, (struct table_cell){ .type = is ? CELL_NUMBER : CELL_NONE, .number = value });
}

void table_none(struct table *t)
{
	put(t, (struct table_cell){ .type = CELL_NONE });
}

void table_mark(struct table *t)
{
	if (t->nrows)
		t->rows[t->nrows - 1].marked = true;
}

void table_part(struct table *t, const char *key)
{
	if (t->nrows > 1)
		t->rows[t->nrows - 1].part = key;
}

/* NULL: out of memory. */
static char *escaped(const char *fmt, va_list args)
{
	char *text, *shown;
	const int len = vasprintf(&text, fmt, args);

	if (len < 0)
		return NULL;
	shown = malloc(4 * (size_t)len + 1);
	if (shown)
		escape_terminal(text, (size_t)len, shown, 4 * (size_t)len + 1);
	free(text);
	return shown;
}

void table_caption(struct table *t, const char *fmt, ...)
{
	va_list args;

	free(t->caption);
	va_start(args, fmt);
	t->caption = escaped(fmt, args);
	va_end(args);
	t->lost |= !t->caption;
}

void table_caption_more(struct table *t, const char *fmt, ...)
{
	char *line, *lines;
	va_list args;

	va_start(args, fmt);
	line = escaped(fmt, args);
	va_end(args);
	if (line && t->caption && asprintf(&lines, "%s\n%s", t->caption, line) >= 0) {
		free(t->caption);
		t->caption = lines;
	} else {
		t->lost = true;
	}
	free(line);
}

void table_below(struct table *t, char *text)
{
	free(t->below);
	t->below = text;
}

void table_extra(struct table *t, const char *key, struct json_object *value)
{
	if (!t->extra)
		t->extra = json_object_new_object();
	if (t->extra && value && !json_object_object_add(t->extra, key, value))
		return;
	json_object_put(value);
	t->lost = true;
}

/* ---- order ------------------------------------------------------------------------------ */

void table_word(const char *title, char *name, size_t size)
{
	size_t n = 0;

	for (; *title && n + 1 < size; title++)
		if (isalnum((unsigned char)*title))
			name[n++] = (char)tolower((unsigned char)*title);
		else if (n && name[n - 1] != '_')
			name[n++] = '_';
	while (n && name[n - 1] == '_')
		n--;
	name[n] = '\0';
	if (!n)
		snprintf(name, size, "value");
}

int table_find(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->ncolumns; i++)
		if (!strcmp(t->columns[i].name, name))
			return (int)i;
	return -1;
}

static double as_number(const struct table_cell *c)
{
	return c->type == CELL_INTEGER  ? (double)c->integer
	       : c->type == CELL_NUMBER ? c->number : (double)c->natural;
}

static int compare_cells(const struct table *t, const struct table_cell *a,
			 const struct table_cell *b)
{
	double x, y;

	if (a->type == CELL_TEXT && b->type == CELL_TEXT)
		return strcmp(t->text + a->text, t->text + b->text);
	if (a->type == CELL_TEXT || b->type == CELL_TEXT)
		return a->type == CELL_TEXT ? 1 : -1;
	if (a->type == CELL_UNSIGNED && b->type == CELL_UNSIGNED)
		return a->natural < b->natural ? -1 : a->natural > b->natural;
	if (a->type == CELL_INTEGER && b->type == CELL_INTEGER)
		return a->integer < b->integer ? -1 : a->integer > b->integer;
	x = as_number(a);
	y = as_number(b);
	return x < y ? -1 : x > y;
}

struct sorting {
	const struct table *t;
	size_t column;
	bool descending;
};

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct sorting *s = arg;
	const struct table_row *rx = x, *ry = y;
	const struct table_cell *a = &s->t->cells[rx->first + s->column];
	const struct table_cell *b = &s->t->cells[ry->first + s->column];
	int order;

	if (a->type == CELL_NONE || b->type == CELL_NONE)
		order = (a->type == CELL_NONE) - (b->type == CELL_NONE);
	else
		order = s->descending ? compare_cells(s->t, b, a) : compare_cells(s->t, a, b);
	return order ? order : rx->rank < ry->rank ? -1 : 1;
}

int table_sort(struct table *t, const char *name, bool descending)
{
	int column = table_find(t, name);
	struct sorting s = { t, (size_t)column, descending };

	if (column < 0)
		return -ENOENT;
	for (size_t i = 0; i < t->nrows; i++)   /* makes the sort stable */
		t->rows[i].rank = i;
	if (t->nrows)
		qsort_r(t->rows, t->nrows, sizeof(*t->rows), compare_rows, &s);
	return 0;
}
