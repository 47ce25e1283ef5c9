/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a listing as aligned columns or as JSON. */
#include "cli/list.h"

#include "base/escape.h"
#include "report/json.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { CELL = 40000 };   /* the longest name of a function and its path, escaped */

/* ------------------------------------------------------------------------
 * Text
 */

/* Each kind is a table. A column is a text of the event, or has a function that writes a cell. */
typedef void cell_fn(const struct listed *e, char *cell);

static void show(const char *text, char *cell)
{
	escape_terminal(text ? text : "", text ? strlen(text) : 0, cell, CELL);
}

static void id_cell(const struct listed *e, char *cell)
{
	snprintf(cell, CELL, "%.0d", e->format ? e->format->id : 0);
}

/* The first sentence. libpfm4 says TBD if there is no description. */
static void vendor_cell(const struct listed *e, char *cell)
{
	char *end;

	show(e->summary && strcmp(e->summary, "TBD") ? e->summary : "", cell);
	end = strstr(cell, ". ");
	if (end)
		*end = '\0';
}

static void opens_cell(const struct listed *e, char *cell)
{
	const char *text = e->opens == 0 ? "yes" : e->opens == -ENOENT ? "no" : strerror(-e->opens);

	show(text, cell);
}

struct column {
	const char *title;
	cell_fn *cell;           /* NULL: the text at `text` in the event */
	size_t text;
};

#define COLUMNS 3
#define TEXT(member) NULL, offsetof(struct listed, member)

static const struct table {
	enum catalog_kind kind;
	struct column columns[COLUMNS];
} tables[] = {
	{ CATALOG_TRACEPOINT, { { "Tracepoint", TEXT(name) }, { "id", id_cell, 0 } } },
	{ CATALOG_SOFTWARE, { { "Software", TEXT(name) }, { "also called", TEXT(alias) } } },
	{ CATALOG_HARDWARE,
	  { { "Hardware", TEXT(name) }, { "also called", TEXT(alias) }, { "opens here", opens_cell, 0 } } },
	{ CATALOG_CACHE, { { "Hardware cache", TEXT(name) }, { "opens here", opens_cell, 0 } } },
	{ CATALOG_PMU, { { "PMU", TEXT(name) }, { "terms", TEXT(terms) }, { "unit", TEXT(unit) } } },
	{ CATALOG_VENDOR, { { "CPU's own", TEXT(name) }, { "what", vendor_cell, 0 } } },
	{ CATALOG_USDT, { { "USDT probe", TEXT(name) }, { "arguments", TEXT(terms) } } },
	{ CATALOG_FUNCTION, { { "Function", TEXT(name) } } },
	{ CATALOG_SOURCE, { { "Source", TEXT(name) }, { "what", TEXT(summary) } } },
};

static void put_cell(const struct column *c, const struct listed *e, char *cell)
{
	if (c->cell)
		c->cell(e, cell);
	else
		show(*(char *const *)((const char *)e + c->text), cell);
}

/* 0: the column is empty and left out. */
static int column_width(const struct listing *l, const struct table *t, const struct column *c)
{
	size_t width = 0;

	for (size_t i = 0; i < l->n; i++) {
		char cell[CELL];

		if (l->events[i].kind != t->kind)
			continue;
		put_cell(c, &l->events[i], cell);
		if (strlen(cell) > width)
			width = strlen(cell);
	}
	if (!width)
		return 0;
	return (int)(width > strlen(c->title) ? width : strlen(c->title)) + 2;
}

/* Padding is printed before the next cell, so that lines have no trailing spaces. */
static void print_cell(FILE *out, int *pending, const char *text, int width)
{
	if (*text) {
		fprintf(out, "%*s%s", *pending, "", text);
		*pending = 0;
	}
	*pending += width - (int)strlen(text);
}

static void print_titles(const struct table *t, const int *widths, FILE *out)
{
	int pending = 0;

	/* names are indented by two below their title */
	for (size_t c = 0; c < COLUMNS && t->columns[c].title; c++)
		if (widths[c])
			print_cell(out, &pending, t->columns[c].title, widths[c] + (c ? 0 : 2));
	fputc('\n', out);
}

static void print_fields(const struct tracefmt *format, FILE *out)
{
	int name = 0, type = 0;

	for (size_t i = 0; i < format->nfields; i++) {
		char cell[CELL];

		show(format->fields[i].name, cell);
		name = (int)strlen(cell) > name ? (int)strlen(cell) : name;
		show(format->fields[i].type, cell);
		type = (int)strlen(cell) > type ? (int)strlen(cell) : type;
	}
	for (size_t i = 0; i < format->nfields; i++) {
		const struct trace_field *field = &format->fields[i];
		char shown_name[CELL], shown_type[CELL];

		show(field->name, shown_name);
		show(field->type, shown_type);
		fprintf(out, "      %-*s  %-*s  offset %3u  size %2u\n", name, shown_name, type,
			shown_type, field->offset, field->size);
	}
}

static void print_event(const struct listed *e, const struct table *t, const int *widths, FILE *out)
{
	int pending = 2;

	for (size_t c = 0; c < COLUMNS && t->columns[c].title; c++) {
		char cell[CELL];

		put_cell(&t->columns[c], e, cell);
		print_cell(out, &pending, cell, widths[c]);
	}
	fputc('\n', out);
	if (e->format)
		print_fields(e->format, out);
}

static void print_table(const struct listing *l, const struct table *t, bool *first, FILE *out)
{
	int widths[COLUMNS] = { 0 };
	bool titled = false;

	for (size_t i = 0; i < l->n; i++) {
		if (l->events[i].kind != t->kind)
			continue;
		for (size_t c = 0; !titled && c < COLUMNS && t->columns[c].title; c++)
			widths[c] = column_width(l, t, &t->columns[c]);
		if (!titled) {
			fputs(*first ? "" : "\n", out);
			print_titles(t, widths, out);
		}
		titled = true;
		*first = false;
		print_event(&l->events[i], t, widths, out);
	}
}

void listing_text(const struct listing *l, FILE *out)
{
	bool first = true;

	for (size_t i = 0; i < COUNT(tables); i++)
		print_table(l, &tables[i], &first, out);
}

/* ------------------------------------------------------------------------
 * JSON
 */

static bool put_text(json_object *to, const char *key, const char *text)
{
	return !text || json_put(to, key, json_object_new_string(text));
}

static bool append_field(json_object *array, const struct trace_field *field, bool common)
{
	json_object *o = json_object_new_object();

	return json_append(array, o) && put_text(o, "name", field->name) &&
	       put_text(o, "type", field->type) &&
	       json_put(o, "offset", json_object_new_int(field->offset)) &&
	       json_put(o, "size", json_object_new_int(field->size)) &&
	       json_put_bool(o, "signed", field->kind == FIELD_SINT) &&
	       json_put_bool(o, "common", common);
}

static bool put_format(json_object *to, const struct tracefmt *format)
{
	json_object *fields = json_object_new_array();

	if (!json_put(to, "id", json_object_new_int(format->id)) || !json_put(to, "fields", fields))
		return false;
	for (size_t i = 0; i < format->nfields; i++)
		if (!append_field(fields, &format->fields[i], i < format->ncommon))
			return false;
	return true;
}

static bool put_opens(json_object *to, const struct listed *e)
{
	if (!(e->kind & (CATALOG_HARDWARE | CATALOG_CACHE)))
		return true;
	return json_put_bool(to, "opens", !e->opens) &&
	       (!e->opens || put_text(to, "why", e->opens == -ENOENT ? "not supported here"
								     : strerror(-e->opens)));
}

static bool append_event(json_object *array, const struct listed *e)
{
	json_object *o = json_object_new_object();

	return json_append(array, o) && put_text(o, "kind", catalog_kind_word(e->kind)) &&
	       put_text(o, "name", e->name) &&
	       put_text(o, e->kind & (CATALOG_PMU | CATALOG_VENDOR) ? "pmu" : "system", e->group) &&
	       (!e->group || put_text(o, "event", e->event)) && put_text(o, e->kind == CATALOG_FUNCTION ? "symbol" : "alias", e->alias) &&
	       put_text(o, e->kind == CATALOG_USDT ? "args" : "terms", e->terms) && put_text(o, "unit", e->unit) &&
	       put_text(o, "summary", e->summary) && put_opens(o, e) &&
	       (!e->format || put_format(o, e->format));
}

static bool fill(json_object *root, const struct listing *l)
{
	json_object *events = json_object_new_array();

	if (!json_put(root, "events", events))
		return false;
	for (size_t i = 0; i < l->n; i++)
		if (!append_event(events, &l->events[i]))
			return false;
	return !l->trouble.exit_code || put_text(root, "trouble", l->trouble.text);
}

int listing_json(const struct listing *l, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_document(root, root && fill(root, l), out);
}
