/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as text. The width of a column is that of its widest cell, in this table and the ones before (so that
 * intervals line up). If the output is not a terminal, nothing is cut off, and a long text only widens its own row.
 * If the terminal is too narrow, first the gaps shrink, then the least important columns are left out
 * (table_column.spare), then paths lose folders, then text columns get narrower, the widest first; numbers are never
 * cut off.
 */
#include "report/table_private.h"

#include "base/columns.h"
#include "report/fit_path.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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

static void put_cell(const struct table *t, const struct layout *l, size_t i, const char *text,
		     struct line *line)
{
	char buf[FIT_MAX];

	if (l->cuts && t->columns[i].fit && l->widths[i])
		text = fit_text(t->columns[i].fit, text, l->widths[i], buf);
	put_field(line, text, l->widths[i], is_right(&t->columns[i]), l->cuts);
	line->blanks += l->gap;
}

static void put_titles(const struct table *t, const struct layout *l, FILE *out)
{
	struct line line = { out, 0 };
	char buf[CELL_SIZE];

	fputs(l->colour ? bold : "", out);
	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_shown(t, i))
			put_cell(t, l, i, title_text(t, i, buf), &line);
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
			put_cell(t, l, i, cell_text(t, &t->columns[i], &t->cells[row->first + i], buf),
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
		put_titles(t, &l, out);
	for (size_t r = 0; r < t->nrows; r++)
		if (t->rows[r].wanted)
			put_row(t, &l, &t->rows[r], out);
	if (left_out)
		fprintf(out, style->all_by ? "... %zu more (%s shows all)\n" : "... %zu more\n", left_out, style->all_by);
	return t->lost ? -ENOMEM : 0;
}
