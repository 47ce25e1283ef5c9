/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof list: lists the events of this machine. */
#include "analysis/commands.h"
#include "base/cpulist.h"
#include "base/descriptors.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/nearest.h"
#include "base/note.h"
#include "base/opener.h"
#include "base/room.h"
#include "cli/commands.h"
#include "events/catalog.h"
#include "events/probename.h"
#include "events/probes.h"
#include "events/spec.h"
#include "report/json.h"
#include "symbols/elf/places.h"
#include "symbols/parser_kinds.h"
#include "tasks/mappedfiles.h"
#include "tracefmt/tracefmt.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listed {
	enum catalog_kind kind;
	char *name, *group, *event, *alias, *terms, *unit, *summary;   /* as in struct catalog_entry */
	int opens;
	const struct tracefmt *format;   /* tracepoints with -v; owned by the listing's db */
};

struct listing {
	struct listed *events;
	size_t n;
	struct tracefmt_db *formats;
	struct fault trouble;            /* the first part that could not be read; exit_code 0: none */
};

/* Prints a listing as aligned columns or as JSON. */

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

static void listing_text(const struct listing *l, FILE *out)
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

/* 0, -ENOMEM or -EIO. */
static int listing_json(const struct listing *l, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_document(root, root && fill(root, l), out);
}

/* perf-prof list FILE: the functions and USDT probes of programs and libraries. */

struct list_files {
	catalog_fn *take;        /* for each function and probe; 0 or -ENOMEM */
	void *ctx;
	bool usdt;               /* USDT probes only */
};

/* ------------------------------------------------------------------------
 * Places as entries of the list
 */

struct file {
	const struct list_files *list;
	const char *word;        /* "uprobe", "uretprobe", "usdt" */
	char shown[4200];        /* its path, as an event list takes it */
};

/* "s32 u64 ?": the types of a USDT probe's arguments; "?" for those that a probe cannot fetch. */
static void put_types(const char *args, char *buf, size_t size)
{
	char text[1024];
	unsigned int number = 0;
	size_t used = 0;

	buf[0] = '\0';
	probe_args_of_usdt(args, text, sizeof(text));
	for (char *save, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		unsigned int n = (unsigned int)strtoul(word + strlen("arg"), NULL, 10);
		const char *type = strrchr(word, ':');

		while (++number < n && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s?", used ? " " : "");
		if (type && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%sarg%u:%s", used ? " " : "", n, type + 1);
	}
}

static int take_place(const struct file *file, const struct place *p, bool usdt)
{
	char function[PROBE_FUNCTION_SIZE], name[sizeof(function) + sizeof(file->shown) + 16], types[1024] = "";
	struct catalog_entry e = { .kind = usdt ? CATALOG_USDT : CATALOG_FUNCTION, .name = name };

	probe_function_text(p->name, p->symbol, function);
	snprintf(name, sizeof(name), "%s:%s@%s", file->word, function, file->shown);
	if (usdt) {
		put_types(p->args, types, sizeof(types));
		e.terms = types;
	} else if (strcmp(p->symbol, p->name)) {
		e.alias = p->symbol;
	}
	return file->list->take(&e, file->list->ctx);
}

/* Each name once: a probe covers all its places. */
static int take_places(const struct file *file, const struct places *places, bool usdt)
{
	int rc = 0;

	for (size_t i = 0; i < places->n && !rc; i++)
		if (!i || strcmp(places->all[i].name, places->all[i - 1].name))
			rc = take_place(file, &places->all[i], usdt);
	return rc;
}

/* ------------------------------------------------------------------------
 * A file that was named
 */

static struct parser *new_parser(struct fault *f)
{
	struct parser *p = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO });

	if (!p)
		fault_set(f, EXIT_FAILED, "list: the process that reads programs' files did not start: %s", strerror(errno));
	return p;
}

static int refuse(const char *path, int err, struct fault *f)
{
	return fault_usage(f, "list: cannot read %s: %s; expected a program or a library", path, parser_error_text(err));
}

static int no_match(const struct probe_name *name, const struct places *places, struct fault *f)
{
	const char *what = name->kind->usdt ? "USDT probe" : "function";
	char function[PROBE_FUNCTION_SIZE], near[1200] = "";

	if (!places->seen)
		return fault_usage(f, "list: %s has no %ss%s", name->path, what,
				   name->kind->usdt ? "" : " with names: it is stripped, and its debug file was not found");
	if (places->n) {
		probe_function_text(places->all[0].name, places->all[0].symbol, function);
		escape_terminal(function, strlen(function), near, sizeof(near));
	}
	return fault_usage(f, "list: no %s of %s matches %s%s%s%s", what, name->path, name->function,
			   *near ? "; did you mean " : "", near, *near ? "?" : "");
}

static int search(const struct file *file, struct parser *p, int fd, const struct probe_name *name, struct fault *f)
{
	struct places places;
	int rc = places_find(&places, p, fd, name->path, name->kind->usdt ? PLACES_USDT : PLACES_FUNCTIONS, name->function);

	if (rc)
		return refuse(name->path, -rc, f);
	if (places.match == PLACES_NONE)
		rc = no_match(name, &places, f);
	else if (take_places(file, &places, name->kind->usdt))
		rc = fault_set(f, EXIT_FAILED, "list: out of memory");
	places_free(&places);
	return rc;
}

static int list_named(const struct list_files *l, const struct probe_name *name, struct fault *f)
{
	struct file file = { .list = l, .word = name->kind->word };
	int path = open(name->path, O_PATH | O_CLOEXEC), fd = path < 0 ? -errno : opener_read_regular(path), rc = -1;
	struct parser *p;

	if (fd < 0)
		return refuse(name->path, -fd, f);
	probe_path_text(name->path, file.shown, sizeof(file.shown));
	p = new_parser(f);
	if (p)
		rc = search(&file, p, fd, name, f);
	parser_free(p);
	close(fd);
	return rc;
}

/* Parses "uprobe:FUNCTION@FILE". */
static int list_probe(const struct list_files *l, const char *operand, struct fault *f)
{
	struct spec_list specs = { 0 };
	struct spec_error err;
	struct probe_name name;
	char text[1600];
	int rc = spec_parse(&specs, operand, &err);

	if (rc) {
		spec_error_text(&err, text, sizeof(text));
		return fault_usage(f, "list: %s", text);
	}
	rc = probe_name_parse(&specs.items[0], &name, f);
	if (!rc)
		rc = list_named(l, &name, f);
	spec_free(&specs);
	return rc;
}

/* All functions and USDT probes. A file may have none of one kind. */
static int list_all(const struct list_files *l, const char *path, struct fault *f)
{
	static const char *const kinds[] = { "usdt", "uprobe" };
	struct fault why[2] = { { 0 }, { 0 } };
	struct probe_name name = { .function = "*", .glob = true };

	if ((size_t)snprintf(name.path, sizeof(name.path), "%s", path) >= sizeof(name.path))
		return refuse("the file", ENAMETOOLONG, f);
	for (int i = 0; i < (l->usdt ? 1 : 2); i++) {
		name.kind = probe_word_of(&(struct spec_item){ .sys = (char *)(uintptr_t)kinds[i] });
		list_named(l, &name, &why[i]);
	}
	if (!why[0].exit_code || (!l->usdt && !why[1].exit_code))
		return 0;
	*f = why[!l->usdt];
	return -1;
}

static bool is_probe(const char *operand)
{
	static const char *const words[] = { "uprobe:", "uretprobe:", "usdt:" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strncmp(operand, words[i], strlen(words[i])))
			return strchr(operand, '@');
	return false;
}

/* Whether it names a file, or a probe in one: "./app", "uprobe:shop::*@./app". */
static bool list_is_file(const char *operand)
{
	return operand[0] == '/' || !strncmp(operand, "./", 2) || !strncmp(operand, "../", 3) || is_probe(operand);
}

/* The functions and probes of the file, or those that match. 0, or -1 with f. */
static int list_file(const struct list_files *l, const char *operand, struct fault *f)
{
	return is_probe(operand) ? list_probe(l, operand, f) : list_all(l, operand, f);
}

/* ------------------------------------------------------------------------
 * Files of processes
 */

struct mapped {
	const struct list_files *list;
	struct parser *parser;
};

/* Damaged files have no probes. */
static int take_mapped(void *ctx, int fd, const char *path, const char *here)
{
	const struct mapped *m = ctx;
	struct file file = { .list = m->list, .word = "usdt" };
	struct places places;
	int rc;

	if (places_find(&places, m->parser, fd, path, PLACES_USDT, "*"))
		return 0;
	probe_path_text(here, file.shown, sizeof(file.shown));
	rc = places.match == PLACES_GLOB ? take_places(&file, &places, true) : 0;
	places_free(&places);
	return rc;
}

static int read_processes(struct mappedfiles *files, const struct numlist *pids, struct fault *f)
{
	for (size_t i = 0; i < pids->n; i++) {
		int rc = mappedfiles_of(files, pids->v[i]);

		if (rc == -ENOMEM)
			return fault_set(f, EXIT_FAILED, "list: out of memory");
		if (rc)
			return fault_usage(f, "list: cannot read the files of process %d: %s", pids->v[i],
					   rc == -ESRCH || rc == -ENOENT ? "there is no such process" : strerror(-rc));
	}
	return 0;
}

/* The USDT probes of the files that these processes have mapped; NULL: all processes. 0, or -1 with f. */
static int list_mapped(const struct list_files *l, const struct numlist *pids, struct fault *f)
{
	struct mapped m = { .list = l, .parser = new_parser(f) };
	struct mappedfiles files = { .take = take_mapped, .ctx = &m };
	int rc = !m.parser ? -1 : pids ? read_processes(&files, pids, f) : mappedfiles_of_all(&files) ?
		 fault_set(f, EXIT_FAILED, "list: out of memory") : 0;

	parser_free(m.parser);
	mappedfiles_free(&files);
	return rc;
}

struct list_config {
	bool fields;
	bool json;
	bool usdt;
	const char *pids;
};

/* ------------------------------------------------------------------------
 * Gathering
 */

struct gathering {
	struct listing *listing;
	const char *tracefs;       /* for -v: the tracefs with formats; else NULL */
	size_t matched;            /* by the current glob, also those that are listed already */
	bool several;              /* there are several globs: an event may match twice */
};

static char *copy(const char *text, bool *ok)
{
	char *own = text ? strdup(text) : NULL;

	*ok &= own || !text;
	return own;
}

static void free_listed(struct listed *e)
{
	free(e->name);
	free(e->group);
	free(e->event);
	free(e->alias);
	free(e->terms);
	free(e->unit);
	free(e->summary);
}

static bool copy_entry(struct listed *to, const struct catalog_entry *from)
{
	bool ok = true;

	*to = (struct listed){
		.kind = from->kind, .opens = from->opens,
		.name = copy(from->name, &ok), .group = copy(from->group, &ok),
		.event = copy(from->event, &ok), .alias = copy(from->alias, &ok),
		.terms = copy(from->terms, &ok), .unit = copy(from->unit, &ok),
		.summary = copy(from->summary, &ok),
	};
	return ok;
}

static bool listed_already(const struct listing *l, const struct catalog_entry *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->events[i].kind == e->kind && !strcmp(l->events[i].name, e->name))
			return true;
	return false;
}

/* The fields of a tracepoint. If the format cannot be read, only its fields are missing. */
static void load_format(struct gathering *g, struct listed *e)
{
	struct listing *l = g->listing;
	struct fault f = { 0 };

	e->format = tracefmt_load(l->formats, g->tracefs, e->group, e->event, &f);
	if (!e->format && !l->trouble.exit_code)
		l->trouble = f;
}

static int take(const struct catalog_entry *entry, void *ctx)
{
	struct gathering *g = ctx;
	struct listing *l = g->listing;
	struct listed *added;

	if (entry->kind == CATALOG_TRACEPOINT && probes_group_is_ours(entry->group))
		return 0;
	g->matched++;
	if (g->several && listed_already(l, entry))
		return 0;
	added = APPENDED(l->events, l->n);
	if (!added || !copy_entry(added, entry))
		return -ENOMEM;
	if (g->tracefs && entry->kind == CATALOG_TRACEPOINT)
		load_format(g, added);
	return 0;
}

/* Commands that can be sources in an event list. */
static int take_sources(struct gathering *g, const char *glob)
{
	for (const struct source_ops *const *src = analysis_sources; *src; src++) {
		const struct catalog_entry entry = {
			.kind = CATALOG_SOURCE, .name = (*src)->name, .event = (*src)->name,
			.summary = (*src)->summary,
		};

		if ((!glob || !fnmatch(glob, entry.name, FNM_CASEFOLD)) && take(&entry, g))
			return -ENOMEM;
	}
	return 0;
}

static void listing_free(struct listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		free_listed(&l->events[i]);
	free(l->events);
	if (l->formats)
		tracefmt_db_free(l->formats);
}

/* ------------------------------------------------------------------------
 * A glob that matches nothing
 */

struct system_search {
	struct nearest near;
	size_t len;            /* of the system in the glob */
	const char *glob;
	bool exists;
};

static int offer_system(const struct catalog_entry *e, void *ctx)
{
	struct system_search *s = ctx;

	nearest_offer(&s->near, e->group);
	s->exists |= strlen(e->group) == s->len && !strncmp(e->group, s->glob, s->len);
	return s->exists;
}

/* Suggests "sched:*" for "shced:*": only the system is misspelt. */
static bool nearest_system(const char *glob, char *buf, size_t size)
{
	struct system_search s = { .len = strcspn(glob, ":"), .glob = glob };
	char system[128];

	if (!glob[s.len] || s.len >= sizeof(system))
		return false;
	memcpy(system, glob, s.len);
	system[s.len] = '\0';
	nearest_begin(&s.near, system);
	catalog_each(CATALOG_TRACEPOINT, NULL, offer_system, &s, NULL);
	if (s.exists || !nearest_get(&s.near))
		return false;
	snprintf(buf, size, "%s%s", nearest_get(&s.near), glob + s.len);
	return true;
}

/* Removes the wildcards of a glob: "sched:sched_wakpu*" is similar to "sched:sched_wakeup". */
static void strip_wildcards(const char *glob, char *buf, size_t size)
{
	size_t n = 0;

	for (; *glob && n + 1 < size; glob++)
		if (!strchr("*?[]", *glob))
			buf[n++] = *glob;
	buf[n] = '\0';
}

static bool suggest(const char *glob, char *buf, size_t size)
{
	char plain[256];

	if (spec_is_glob(glob) && nearest_system(glob, buf, size))
		return true;
	strip_wildcards(glob, plain, sizeof(plain));
	return plain[0] && catalog_nearest(plain, buf, size);
}

static int complain_no_match(const char *glob, struct fault *f)
{
	char shown[256], near[512], shown_near[512];

	escape_terminal(glob, strlen(glob), shown, sizeof(shown));
	if (!suggest(glob, near, sizeof(near)))
		return fault_usage(f, "list: no event matches %s; `perf-prof list` shows all",
				   shown);
	escape_terminal(near, strlen(near), shown_near, sizeof(shown_near));
	return fault_usage(f, "list: no event matches %s; did you mean %s?", shown, shown_near);
}

/* ------------------------------------------------------------------------
 * The command
 */

static void note_unreadable(struct listing *l, const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	if (!l->trouble.exit_code)
		fault_set(&l->trouble, EXIT_FAILED, "list: %s", text);
}

/* glob: NULL lists everything. 0, or -1 with f. */
static int gather(struct gathering *g, const char *glob, struct fault *f)
{
	unsigned int kinds = glob ? catalog_kind_by_word(glob) : 0;
	struct pev_error err;
	bool complete;
	int ret;

	g->matched = 0;
	if (kinds & (CATALOG_FUNCTION | CATALOG_USDT))
		return fault_usage(f, "list: %s names no file: `perf-prof list ./FILE` lists its functions and USDT probes, "
				   "`perf-prof list --usdt` the USDT probes of programs that run now", glob);
	ret = catalog_each(kinds ? kinds : glob ? CATALOG_ALL | CATALOG_VENDOR : CATALOG_ALL, kinds ? NULL : glob, take, g, &err);
	if (ret != -ENOMEM && (!kinds || kinds & CATALOG_SOURCE) && take_sources(g, kinds ? NULL : glob))
		ret = -ENOMEM;
	if (ret == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "list: out of memory");
	/* an event that was named and found does not need the parts that cannot be read */
	complete = g->matched && glob && !kinds && !spec_is_glob(glob);
	if (ret < 0 && !complete)
		note_unreadable(g->listing, &err);
	else if (!g->matched && glob && !kinds)
		return complain_no_match(glob, f);
	else if (!g->matched && kinds)
		note(1, "list: no events of the kind %s on this machine%s", glob, kinds != CATALOG_VENDOR ? "" :
		     ": libpfm4 knows no events of this CPU, or it is not installed (libpfm.so.4), or perf-prof was built without "
		     "it (perf-prof version --build-options)");
	return 0;
}

static int gather_mapped(const struct list_files *files, const char *text, struct fault *f)
{
	struct numlist pids = { 0 };
	int rc;

	if (!text)
		return list_mapped(files, NULL, f);
	if (numlist_parse(&pids, text, INT_MAX, NULL))
		return fault_usage(f, "list: -p %s: expected process ids, separated by commas", text);
	rc = list_mapped(files, &pids, f);
	numlist_free(&pids);
	return rc;
}

static int gather_all(struct gathering *g, const struct list_config *c, const struct opt_parser *args, struct fault *f)
{
	struct list_files files = { take, g, c->usdt };

	if (c->pids && (!c->usdt || args->noperands))
		return fault_usage(f, "list: -p is for --usdt without a file: perf-prof list --usdt -p PID");
	if (c->usdt && !args->noperands)
		return gather_mapped(&files, c->pids, f);
	if (!args->noperands)
		return gather(g, NULL, f);
	g->several = args->noperands > 1;
	for (int i = 0; i < args->noperands; i++)
		if (c->usdt || list_is_file(args->operands[i]) ? list_file(&files, args->operands[i], f) :
		    gather(g, args->operands[i], f))
			return -1;
	return 0;
}

static int render(const struct listing *l, bool json, struct fault *f)
{
	if (!json)
		listing_text(l, stdout);
	else if (listing_json(l, stdout) == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "list: out of memory");
	if (!l->trouble.exit_code)
		return EXIT_DONE;
	fflush(stdout);
	*f = l->trouble;
	return f->exit_code;
}

/* Most descriptors that are open at once. */
enum { OWN_FILES = 16 };

static int list_run(void *config, const struct opt_parser *args, struct fault *f)
{
	const struct list_config *c = config;
	struct listing listing = { 0 };
	struct gathering g = { .listing = &listing };
	char tracefs[1024];
	int code;

	descriptors_reserve(OWN_FILES);
	if (c->fields && !pev_tracefs_path(tracefs, sizeof(tracefs), NULL)) {
		listing.formats = tracefmt_db_new();
		g.tracefs = listing.formats ? tracefs : NULL;
	}
	if (gather_all(&g, c, args, f))
		code = f->exit_code;
	else
		code = render(&listing, c->json, f);
	listing_free(&listing);
	return code;
}

static const struct opt list_opts[] = {
	{ "verbose", 'v', NULL, OPT_FLAG, offsetof(struct list_config, fields), NULL,
	  "Also print the fields of each tracepoint: name, type, offset and size in bytes.", false, NULL },
	{ "json", 0, NULL, OPT_FLAG, offsetof(struct list_config, json), NULL,
	  "Print JSON, one document.", false, NULL },
	{ "usdt", 0, NULL, OPT_FLAG, offsetof(struct list_config, usdt), NULL,
	  "List only USDT probes: those of the FILEs, or of all programs and libraries that run now.", false, NULL },
	{ "pids", 'p', NULL, OPT_STRING, offsetof(struct list_config, pids), "LIST",
	  "With --usdt: list those of the programs and libraries of these processes only.", false, NULL },
};
const struct command list_command = {
	.name = "list",
	.summary = "list the events of this machine",
	.usage = "[-v] [--json] [--usdt [-p LIST]] [GLOB|FILE...]",
	.description = COMMAND_TEXT(
		"Which events does this machine have? Lists them by kind: tracepoints, software events, "
		"hardware events, hardware cache events, the events that PMUs name in sysfs, and sources, "
		"which are commands of perf-prof that can be events. Each event is written as -e takes it. With "
		"a GLOB or the word vendor, it also lists the hundreds of events that the vendor of this CPU "
		"documents, if perf-prof was built with libpfm4.",
		"A GLOB (* ? [ ]; case is ignored) selects events by their whole name, with or without the "
		"system before the colon, or by another name of the same event. The name "
		"of a system or a PMU selects all its events. One of the words tracepoint, software (sw), "
		"hardware (hw), cache, pmu, vendor (libpfm) and source selects that kind.",
		"A FILE is a program or a library, by a path with a slash: its functions, which can be probed (uprobe:), with "
		"the names and parameters that its source has, and its USDT probes (usdt:), with their arguments. "
		"uprobe:GLOB@FILE and usdt:GLOB@FILE select some of them.",
		"perf-prof opens each hardware event to see whether it can be counted here. Tracepoints need "
		"a readable tracefs: without it, the other kinds are listed, and the exit code is 1."),
	OPT_GROUP_ROWS(
		{ "Options", list_opts, sizeof(list_opts) / sizeof(list_opts[0]), 0 }),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof list 'sched:*'", "list the tracepoints of the scheduler" },
		{ "perf-prof list -v sched:sched_switch", "show the fields of a tracepoint" },
		{ "perf-prof list hardware cache", "list the hardware and cache events that this CPU can count" },
		{ "perf-prof list '*retired*'", "find the vendor's events with this word in their name" },
		{ "perf-prof list ./app", "list the functions and USDT probes of a program" },
		{ "perf-prof list 'uprobe:shop::*@./app'", "list the functions of a namespace" },
		{ "perf-prof list --usdt -p 1234", "list the USDT probes of a process, with its libraries" },
		{ "perf-prof list source", "list the commands that can be events" },
		{ "perf-prof list --json 'irq*' | jq '.events[].name'", "list the names from JSON" }),
	.config_size = sizeof(struct list_config),
	.run = list_run,
};
