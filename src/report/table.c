/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a table: cells by row, with escaped text in one arena. */
#include "report/table_private.h"

#include "base/escape.h"
#include "base/room.h"
#include "tasks/pidmap.h"

#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
