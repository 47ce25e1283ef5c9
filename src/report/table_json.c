/* SPDX-License-Identifier: Apache-2.0 */
/* A table as one line of JSON, in the same format for all tables. */
#include "report/table_private.h"

#include "report/json.h"

#include <errno.h>
#include <stdlib.h>

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

static bool put_cell(json_object *to, const struct table *t, const char *name,
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
		    !put_cell(o, t, t->columns[i].name, &t->cells[row->first + i]))
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
