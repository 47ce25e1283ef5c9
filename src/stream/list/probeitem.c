/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in an event list:
 *
 *	kprobe:FUNCTION[+OFFSET]           kretprobe:FUNCTION
 *	uprobe:FUNCTION[+OFFSET]@"PATH"    uretprobe:FUNCTION@"PATH"
 *	usdt:PROVIDER:NAME@"PATH"
 *
 * with the attribute args="...", fetch arguments in the kernel's syntax. FUNCTION can also be an
 * address. They become tracepoints: see events/probes.h.
 */
#include "base/note.h"
#include "base/units.h"
#include "stream/list/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The parsed name of an item. */
struct parts {
	char function[256];       /* or "provider:name", or an address */
	uint64_t offset;
	char path[4096];          /* "": none */
	size_t path_at;           /* position in the event list */
};

static const struct probe_row {
	const char *prefix;
	enum probe_space space;
	bool at_return, usdt;
	const char *expected;
} rows[] = {
	{ "kprobe", PROBE_KERNEL, false, false, "kprobe:FUNCTION[+OFFSET]" },
	{ "kretprobe", PROBE_KERNEL, true, false, "kretprobe:FUNCTION" },
	{ "uprobe", PROBE_USER, false, false, "uprobe:FUNCTION[+OFFSET]@\"/path/of/the/file\"" },
	{ "uretprobe", PROBE_USER, true, false, "uretprobe:FUNCTION@\"/path/of/the/file\"" },
	{ "usdt", PROBE_USER, false, true, "usdt:PROVIDER:NAME@\"/path/of/the/file\"" },
};

static const struct probe_row *row_of(const struct spec_item *item)
{
	for (size_t i = 0; item->sys && i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].prefix, item->sys))
			return &rows[i];
	return NULL;
}

/* The position in the event list of `p`, which points into item->name. */
static size_t place(const struct spec_item *item, const char *p)
{
	return item->at + strlen(item->sys) + 1 + (size_t)(p - item->name);
}

/* ---- the name ------------------------------------------------------------------ */

/* Accepts "PATH" and PATH. */
static int take_path(const struct spec_item *item, const char *at, struct parts *out, struct fault *f)
{
	size_t len = strlen(at);
	bool quoted = len >= 2 && (at[0] == '"' || at[0] == '\'') && at[len - 1] == at[0];

	out->path_at = place(item, at);
	if (quoted) {
		at++;
		len -= 2;
	}
	if (!len || len >= sizeof(out->path))
		return spec_fault(f, item, out->path_at, "the path of the file is missing", "@\"/path/of/the/file\"");
	memcpy(out->path, at, len);
	out->path[len] = '\0';
	return 0;
}

static int take_offset(const struct spec_item *item, const struct probe_row *row, char *plus,
		       struct parts *out, struct fault *f)
{
	size_t at = place(item, item->name + (plus - out->function)) + 1;

	if (row->at_return)
		return spec_fault(f, item, at - 1, "a return probe cannot have an offset", row->expected);
	if (units_u64(plus + 1, &out->offset))
		return spec_fault(f, item, at, "not an offset", "bytes after the function's start, such as "
				  "+0x10");
	*plus = '\0';
	return 0;
}

static int check_function(const struct spec_item *item, const struct probe_row *row,
			  const struct parts *out, struct fault *f)
{
	size_t good = strspn(out->function, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "0123456789_.$:@");
	const char *colon = strchr(out->function, ':');

	if (!out->function[0] || out->function[good])
		return spec_fault(f, item, place(item, item->name + good), "not a function's name",
				  row->expected);
	if (row->usdt && (!colon || colon == out->function || !colon[1]))
		return spec_fault(f, item, place(item, item->name), "not a probe's name", row->expected);
	return 0;
}

/* The "@" before the path: the last one before any quotes. */
static const char *find_path(const char *name)
{
	size_t end = strcspn(name, "\"'");
	const char *found = NULL;

	for (size_t i = 0; i < end; i++)
		if (name[i] == '@')
			found = name + i;
	return found;
}

static int split(const struct spec_item *item, const struct probe_row *row, struct parts *out,
		 struct fault *f)
{
	const char *at = row->space == PROBE_USER ? find_path(item->name) : NULL;
	size_t len = at ? (size_t)(at - item->name) : strlen(item->name);
	char *plus;

	*out = (struct parts){ 0 };
	if (len >= sizeof(out->function))
		return spec_fault(f, item, place(item, item->name), "the name is too long", row->expected);
	memcpy(out->function, item->name, len);
	if (row->space == PROBE_USER && !at)
		return spec_fault(f, item, place(item, item->name + len), "the file to probe is missing",
				  row->expected);
	if (at && take_path(item, at + 1, out, f))
		return -1;
	plus = strchr(out->function, '+');
	if (plus && take_offset(item, row, plus, out, f))
		return -1;
	return check_function(item, row, out, f);
}

/* ---- where the probe is -------------------------------------------------------- */

static int not_found(const struct spec_item *item, const struct parts *parts,
		     const struct pev_error *err, bool file, struct fault *f)
{
	char message[400];

	snprintf(message, sizeof(message), "%.150s: %.200s", err->asked, err->said);
	return spec_fault(f, item, file ? parts->path_at : place(item, item->name), message,
			  err->remedy[0] ? err->remedy : file ? "an executable or a library" :
			  "a function that `nm -D` or `readelf -s` shows");
}

/* A path that can be written in a probe definition, which ends at blanks and some other characters.
 * For other paths, opens the file and returns the path of its descriptor; *fd must stay open until
 * the probe is created. */
static const char *safe_path(const char *path, int *fd, char *buf, size_t size)
{
	*fd = -1;
	if (!path[strcspn(path, " \t\n\r\v\f:;()#")])
		return path;
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return path;
	snprintf(buf, size, "/proc/self/fd/%d", *fd);
	return buf;
}

struct definer {
	struct stream *s;
	const struct spec_item *item;
	const struct probe_row *row;
	const char *args;
	char event[PROBE_NAME_SIZE];
	struct fault *f;
};

/* Where the error probably is: in args, if given, rather than in what was found in the file. */
static size_t likely_place(const struct definer *d)
{
	for (size_t i = 0; *d->args && i < d->item->nattrs; i++)
		if (!strcmp(d->item->attrs[i].name, "args"))
			return d->item->attrs[i].value_at;
	return place(d->item, d->item->name);
}

/* Defines the probe; adds the position to the kernel's error. */
static int define(struct definer *d, const char *where, const char *args)
{
	struct probe_definition def = {
		.space = d->row->space, .at_return = d->row->at_return, .where = where, .args = args,
	};
	struct fault why = { 0 };

	if (!probes_define(&d->s->list.probes, d->s->list.tracefs, &def, d->event, &why))
		return 0;
	spec_fault(d->f, d->item, likely_place(d), why.text, NULL);
	d->f->exit_code = why.exit_code;
	return -1;
}

static int define_in_kernel(struct definer *d, const struct parts *parts)
{
	char where[300];

	if (!probes_possible(d->s->list.tracefs, PROBE_KERNEL)) {
		spec_fault(d->f, d->item, d->item->at, "this kernel has no kprobes: it was built without "
			   "CONFIG_KPROBE_EVENTS", "another kernel, or a tracepoint: `perf-prof list` shows "
			   "them; functions of programs can be probed by uprobe:");
		d->f->exit_code = EXIT_FAILED;
		return -1;
	}
	if (parts->offset)
		snprintf(where, sizeof(where), "%s+%llu", parts->function,
			 (unsigned long long)parts->offset);
	else
		snprintf(where, sizeof(where), "%s", parts->function);
	return define(d, where, d->args);
}

static int define_at(struct definer *d, const struct parts *parts, uint64_t offset, uint64_t ref,
		     const char *args)
{
	char buf[64], where[4200];
	const char *path;
	int fd, rc, n;

	path = safe_path(parts->path, &fd, buf, sizeof(buf));
	n = snprintf(where, sizeof(where), "%s:%#llx", path, (unsigned long long)offset);
	if (ref)
		snprintf(where + n, sizeof(where) - (size_t)n, "(%#llx)", (unsigned long long)ref);
	rc = define(d, where, args);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int define_in_file(struct definer *d, const struct parts *parts)
{
	struct pev_error err = { 0 };
	uint64_t at = 0;
	char args[2048];
	int rc = 0;

	if (units_u64(parts->function, &at))
		rc = pev_elf_symbol(parts->path, parts->function, &at, &err);
	else if (access(parts->path, R_OK))
		return spec_fault(d->f, d->item, parts->path_at, strerror(errno), "an executable or a library");
	if (rc)
		return not_found(d->item, parts, &err, rc != -ENOENT || access(parts->path, R_OK), d->f);
	if (!d->row->at_return && probe_args_of_function(d->args, args, sizeof(args)))
		return spec_fault(d->f, d->item, likely_place(d), "an argument that is not in a register",
				  "$arg1 to $arg6, or the words of the kernel's uprobetracer.rst");
	return define_at(d, parts, at + parts->offset, 0, d->row->at_return ? d->args : args);
}

/* A USDT probe may be at several addresses, if its function was inlined: one event covers all. */
static int define_usdt(struct definer *d, const struct parts *parts)
{
	const char *name = strchr(parts->function, ':') + 1;
	size_t provider = (size_t)(name - 1 - parts->function), found = 0;
	const struct pev_usdt_probe *p;
	struct pev_error err = { 0 };
	struct pev_usdt *usdt;
	int rc;

	if (pev_usdt_open(&usdt, parts->path, &err))
		return not_found(d->item, parts, &err, true, d->f);
	for (size_t i = 0; (p = pev_usdt_at(usdt, i)); i++) {
		char args[1024];

		if (strlen(p->provider) != provider || strncmp(p->provider, parts->function, provider) ||
		    strcmp(p->name, name))
			continue;
		if (probe_args_of_usdt(p->args, args, sizeof(args)) && !*d->args)
			note(d->s->opts->verbose, "%s: left out those arguments of \"%s\" "
			     "that a probe cannot fetch",
			     parts->function, p->args);
		rc = define_at(d, parts, p->offset, p->ref_ctr_offset, *d->args ? d->args : args);
		if (rc) {
			pev_usdt_close(usdt);
			return rc;
		}
		found++;
	}
	pev_usdt_close(usdt);
	return found ? 0 : spec_fault(d->f, d->item, place(d->item, d->item->name), "the file has no such "
				      "USDT probe", "one that `readelf -n FILE` shows");
}

static int define_item(struct definer *d, const struct parts *parts)
{
	if (d->row->usdt)
		return define_usdt(d, parts);
	return d->row->space == PROBE_KERNEL ? define_in_kernel(d, parts) : define_in_file(d, parts);
}

/* ---- the event ----------------------------------------------------------------- */

/* The name without the path, which would make an ugly identifier. */
static void put_name(const struct probe_row *row, const struct parts *parts, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s:%s", row->prefix, parts->function);

	if (parts->offset)
		snprintf(buf + n, size - (size_t)n, "+%#llx", (unsigned long long)parts->offset);
}

bool probe_item_name(const struct spec_item *item, char *buf, size_t size)
{
	const struct probe_row *row = row_of(item);
	struct parts parts;
	struct fault no;

	if (!row || split(item, row, &parts, &no))
		return false;
	put_name(row, &parts, buf, size);
	return true;
}

static int set_names(struct stream_event *ev, const struct definer *d, const struct parts *parts,
		     struct fault *f)
{
	char name[PROBE_SHOWN_SIZE];

	put_name(d->row, parts, name, sizeof(name));
	ev->sys = strdup(d->s->list.probes.group);
	ev->tracepoint = strdup(d->event);
	ev->asked.probe = strdup(name);
	if (!ev->sys || !ev->tracepoint || !ev->asked.probe)
		return fault_set(f, EXIT_FAILED, "out of memory");
	return event_set_name(ev, ev->asked.alias ? ev->asked.alias : name, ev->asked.alias ? ev->asked.alias : name,
			      f);
}

static int add(struct definer *d, const struct parts *parts, struct fault *f)
{
	struct stream_event *ev = events_append(d->s, d->item, f);

	if (!ev || event_attrs_set(d->s, ev, d->item, EVENT_PROBE, f) || define_item(d, parts) ||
	    set_names(ev, d, parts, f))
		return -1;
	ev->fmt = tracefmt_load(d->s->list.formats, d->s->list.tracefs, ev->sys, ev->tracepoint, f);
	if (!ev->fmt)
		return -1;
	ev->min_raw = ev->fmt->min_size;
	return 0;
}

enum plain_answer probe_add_item(struct stream *s, const struct spec_item *item, struct fault *f)
{
	const struct probe_row *row = row_of(item);
	const char *args = spec_attr(item, "args");
	struct definer d = { .s = s, .item = item, .row = row, .args = args ? args : "", .f = f };
	struct parts parts;

	if (!row || !s->list.tracefs[0])
		return PLAIN_NONE;
	if (split(item, row, &parts, f))
		return PLAIN_FAILED;
	return add(&d, &parts, f) ? PLAIN_FAILED : PLAIN_ADDED;
}

const struct trace_field *stream_probe_address(const struct stream_event *event)
{
	const struct tracefmt *fmt = event->fmt;

	for (size_t i = 0; event->asked.probe && i < fmt->nfields; i++)
		if (!strcmp(fmt->fields[i].name, "__probe_ip") ||
		    !strcmp(fmt->fields[i].name, "__probe_func"))
			return &fmt->fields[i];
	return NULL;
}
