/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in an event list (events/probename.h), with the attribute args="...", fetch arguments in the kernel's syntax.
 * They become tracepoints: see events/probes.h.
 */
#include "base/note.h"
#include "stream/list/list.h"
#include "stream/list/probewords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of a glob, each an event on each CPU; and their places, with other names for them. */
enum { MAX_FUNCTIONS = 500, MAX_PLACES = 8000 };

struct definer {
	struct stream *s;
	const struct spec_item *item;
	const struct probe_name *name;
	const char *args;
	char event[PROBE_NAME_SIZE];
	struct fault *f;
};

/* ---- definitions ---------------------------------------------------------------- */

/* Where the error probably is: in args, if given, rather than in what was found in the file. */
static size_t likely_place(const struct definer *d)
{
	for (size_t i = 0; *d->args && i < d->item->nattrs; i++)
		if (!strcmp(d->item->attrs[i].name, "args"))
			return d->item->attrs[i].value_at;
	return probe_name_place(d->item, 0);
}

/* Defines the probe; adds the position to the kernel's error. */
static int define(struct definer *d, const char *where, const char *args)
{
	struct probe_definition def = {
		.space = d->name->kind->space, .at_return = d->name->kind->at_return, .where = where, .args = args,
		.shown = *d->name->path ? d->name->path : NULL,
	};
	struct fault why = { 0 };

	if (!probes_define(&d->s->list.probes, d->s->list.tracefs, &def, d->event, &why))
		return 0;
	spec_fault(d->f, d->item, likely_place(d), why.text, NULL);
	d->f->exit_code = why.exit_code;
	d->f->error = why.error;
	return -1;
}

static int define_in_kernel(struct definer *d)
{
	char where[1100];

	if (!probes_possible(d->s->list.tracefs, PROBE_KERNEL)) {
		spec_fault(d->f, d->item, d->item->at, "this kernel has no kprobes: it was built without "
			   "CONFIG_KPROBE_EVENTS", "another kernel, or a tracepoint: `perf-prof list` shows "
			   "them; functions of programs can be probed by uprobe: (docs/which-process.md does so for files that "
			   "are opened)");
		d->f->exit_code = EXIT_FAILED;
		return -1;
	}
	if (d->name->offset)
		snprintf(where, sizeof(where), "%.1023s+%llu", d->name->function, (unsigned long long)d->name->offset);
	else
		snprintf(where, sizeof(where), "%.1023s", d->name->function);
	return define(d, where, d->args);
}

static int define_at(struct definer *d, const struct probe_file *file, uint64_t offset, uint64_t counter, const char *args)
{
	char where[128];
	int n = snprintf(where, sizeof(where), "%s:%#llx", file->path, (unsigned long long)offset);

	if (counter)
		snprintf(where + n, sizeof(where) - (size_t)n, "(%#llx)", (unsigned long long)counter);
	return define(d, where, args);
}

/* Made by the compiler for some callers of the function. */
static bool is_copy(const struct place *p)
{
	return p->symbol && (strstr(p->symbol, ".isra.") || strstr(p->symbol, ".constprop."));
}

/* The arguments of a probe in a file, for one of its places. */
static int define_place(struct definer *d, struct probe_file *file, const struct place *p)
{
	struct probe_words w = { d->item, d->name, file, d->s->opts->verbose };
	const char *wanted = !*d->args && d->name->kind->usdt ? "*" : d->args;
	char words[2048], args[4096];

	if (is_copy(p) && strstr(d->args, "$arg"))
		return spec_fault(d->f, d->item, likely_place(d), "$arg1 to $arg6 are not known in a copy with other parameters",
				  "names of parameters, which are looked up in the debug information");
	if (!d->name->kind->usdt && probe_place_check(file, d->item, d->name, p, d->f))
		return -1;
	if (probe_words_expand(&w, p, wanted, words, sizeof(words), d->f))
		return -1;
	if (d->name->kind->at_return || d->name->kind->usdt)
		return define_at(d, file, p->offset, p->counter, words);
	if (probe_args_of_function(words, args, sizeof(args)))
		return spec_fault(d->f, d->item, likely_place(d), "an argument that is not in a register",
				  "$arg1 to $arg6, or the words of the kernel's uprobetracer.rst");
	return define_at(d, file, p->offset + d->name->offset, 0, args);
}

/* ---- the event ----------------------------------------------------------------- */

/* The name without the path, which would make an ugly identifier. */
static void put_name(const struct probe_name *name, const char *function, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s:%s", name->kind->word, function);

	if (name->offset && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, "+%#llx", (unsigned long long)name->offset);
}

bool probe_item_name(const struct spec_item *item, char *buf, size_t size)
{
	struct probe_name name;
	struct fault no;

	if (!probe_word_of(item) || probe_name_parse(item, &name, &no))
		return false;
	put_name(&name, name.function, buf, size);
	return true;
}

static int set_names(struct stream_event *ev, const struct definer *d, const char *function)
{
	char name[PROBE_SHOWN_SIZE];
	const char *shown = ev->asked.alias ? ev->asked.alias : name;

	put_name(d->name, function, name, sizeof(name));
	ev->sys = strdup(d->s->list.probes.group);
	ev->tracepoint = strdup(d->event);
	ev->asked.probe = strdup(name);
	if (!ev->sys || !ev->tracepoint || !ev->asked.probe)
		return fault_set(d->f, EXIT_FAILED, "out of memory");
	return event_set_name(ev, shown, shown, d->f);
}

static struct stream_event *begin_event(struct definer *d)
{
	struct stream_event *ev = events_append(d->s, d->item, d->f);

	d->event[0] = '\0';
	return ev && !event_attrs_set(d->s, ev, d->item, EVENT_PROBE, d->f) ? ev : NULL;
}

static int end_event(struct definer *d, struct stream_event *ev, const char *function)
{
	if (set_names(ev, d, function))
		return -1;
	ev->asked.from_glob = d->name->glob;
	ev->fmt = tracefmt_load(d->s->list.formats, d->s->list.tracefs, ev->sys, ev->tracepoint, d->f);
	if (!ev->fmt)
		return -1;
	ev->min_raw = ev->fmt->min_size;
	return 0;
}

/* ---- places of a file ------------------------------------------------------------ */

/* Whether these can be places of one tracepoint, which takes arguments with the same names and types, wherever they are. */
static bool are_alike(const struct place *a, const struct place *b)
{
	char one[1024], other[1024];
	const char *p = one, *q = other;

	probe_args_of_usdt(a->args, one, sizeof(one));
	probe_args_of_usdt(b->args, other, sizeof(other));
	for (; *p && *p == *q; p++, q++)
		if (*p == '=') {   /* NAME=FETCH:TYPE */
			p += strcspn(p, ":") - 1;
			q += strcspn(q, ":") - 1;
		}
	return *p == *q;
}

/* Events with one name for the places from `from` to `to`, which have the same name: a function that was copied, or a USDT
 * probe that was inlined, or is in several places with arguments of other sizes. */
static int add_places(struct definer *d, struct probe_file *file, size_t from, size_t to, const char *shown)
{
	const struct place *all = file->places.all;
	int rc = 0;

	if (!d->name->glob && all[from].chooses)
		note(1, "%s is chosen for this CPU when a program starts (IFUNC): the probe is hit by that choice, not by calls. `nm` of the "
		     "file's debug file shows those to choose from", d->name->function);
	for (size_t first = from, i; first < to && !rc; first++) {
		struct stream_event *ev;

		for (i = from; !are_alike(&all[i], &all[first]); i++)
			;
		if (i < first)
			continue;
		ev = begin_event(d);
		rc = ev ? 0 : -1;
		for (; i < to && !rc; i++) {
			rc = are_alike(&all[i], &all[first]) ? define_place(d, file, &all[i]) : 0;
			if (!rc || !is_copy(&all[i]) || (i + 1 == to && !*d->event))
				continue;
			note(1, "calls of %s, a copy of %s, are not seen: %s", all[i].symbol, shown, d->f->text);
			*d->f = (struct fault){ 0 };
			rc = 0;
		}
		rc = rc ? rc : end_event(d, ev, shown);
	}
	return rc;
}

static size_t end_of_name(const struct places *places, size_t from)
{
	size_t to = from + 1;

	while (to < places->n && !strcmp(places->all[to].name, places->all[from].name))
		to++;
	return to;
}

/* Whether another name of the file is at the same place and comes first: one of them is enough for a glob. */
static bool is_alias(const struct places *places, size_t at)
{
	for (size_t i = 0; i < places->n; i++) {
		const struct place *a = &places->all[i], *b = &places->all[at];
		size_t x = strspn(a->symbol, "_"), y = strspn(b->symbol, "_");

		if (i != at && a->offset == b->offset && strcmp(a->name, b->name) && (x < y || (x == y && i < at)))
			return true;
	}
	return false;
}

/* The shortest name that no other event of the glob has. */
static void put_shown(const struct places *places, size_t at, char *buf, size_t size)
{
	const struct place *p = &places->all[at];
	bool shared = false;

	for (size_t i = 0; i < places->n && !shared; i++)
		shared = !strcmp(places->all[i].bare, p->bare) && strcmp(places->all[i].name, p->name);
	if ((size_t)snprintf(buf, size, "%s", shared ? p->name : p->bare) >= size)
		snprintf(buf + size - 24, 24, "...%zu", at);
}

static int refuse_alias(struct definer *d)
{
	for (size_t i = 0; i < d->item->nattrs; i++)
		if (!strcmp(d->item->attrs[i].name, "alias"))
			return spec_fault(d->f, d->item, d->item->attrs[i].at, "alias= names one event, and this glob may "
					  "match several", "the name of one function, or no alias");
	return 0;
}

static int too_many(struct definer *d)
{
	return spec_fault(d->f, d->item, probe_name_place(d->item, 0), "this glob matches more than 500 functions",
			  "a narrower one; `perf-prof list` shows what it matches");
}

static int add_matches(struct definer *d, struct probe_file *file)
{
	const struct places *places = &file->places;
	size_t n = 0;

	if (refuse_alias(d))
		return -1;
	if (places->n > MAX_PLACES)
		return too_many(d);
	for (size_t from = 0, to; from < places->n; from = to) {
		char shown[PROBE_SHOWN_SIZE - 20];   /* with uretprobe: before it */

		to = end_of_name(places, from);
		if (is_alias(places, from))
			continue;
		if (n++ == MAX_FUNCTIONS)
			return too_many(d);
		put_shown(places, from, shown, sizeof(shown));
		if (add_places(d, file, from, to, shown))
			return -1;
	}
	return 0;
}

/* Numbers: an event for all of them. */
static int add_numbers(struct definer *d, struct probe_file *file)
{
	struct stream_event *ev = begin_event(d);
	int rc = ev ? 0 : -1;

	for (size_t i = 0; i < file->noffsets && !rc; i++)
		rc = define_place(d, file, &(struct place){ .offset = file->offsets[i] });
	return rc ? rc : end_event(d, ev, d->name->function);
}

static int add_in_file(struct definer *d)
{
	struct probe_file file;
	int rc = probe_file_open(&file, d->item, d->name, d->f);

	if (!rc && file.noffsets)
		rc = add_numbers(d, &file);
	else if (!rc && file.places.match == PLACES_GLOB)
		rc = add_matches(d, &file);
	else if (!rc)
		rc = add_places(d, &file, 0, file.places.n, d->name->function);
	probe_file_close(&file);
	return rc;
}

static int add_in_kernel(struct definer *d)
{
	struct stream_event *ev = begin_event(d);

	return !ev || define_in_kernel(d) ? -1 : end_event(d, ev, d->name->function);
}

enum plain_answer probe_add_item(struct stream *s, const struct spec_item *item, struct fault *f)
{
	const char *args = spec_attr(item, "args");
	struct probe_name name;
	struct definer d = { .s = s, .item = item, .name = &name, .args = args ? args : "", .f = f };

	if (!probe_word_of(item) || !s->list.tracefs[0])
		return PLAIN_NONE;
	if (probe_name_parse(item, &name, f))
		return PLAIN_FAILED;
	return (name.kind->space == PROBE_USER ? add_in_file(&d) : add_in_kernel(&d)) ? PLAIN_FAILED : PLAIN_ADDED;
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
