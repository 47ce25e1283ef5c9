/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of -e to events: attributes read, globs expanded, formats loaded. */
#include "stream/private.h"

#include "base/nearest.h"
#include "base/note.h"
#include "base/units.h"
#include "stream/catalog.h"
#include "stream/spec.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"

static int complain(struct fault *f, const struct spec_item *item, size_t at, const char *message,
		    const char *expected)
{
	return spec_fault(f, item, at, message, expected);
}

/* ---- attributes ------------------------------------------------------- */

static int attr_stack(struct stream_event *ev, const char *value, char *why, size_t size)
{
	ev->callchain = true;
	if (value)
		snprintf(why, size, "stack takes no value");
	return value ? -1 : 0;
}

static int attr_max_stack(struct stream_event *ev, const char *value, char *why, size_t size)
{
	uint64_t n;
	int limit = pev_max_stack();

	if (limit <= 0)
		limit = 127;
	if (!value || units_u64(value, &n) || n < 1 || n > (uint64_t)limit) {
		snprintf(why, size, "max-stack=%s: expected 1 to %d (kernel.perf_event_max_stack)",
			 value ? value : "", limit);
		return -1;
	}
	ev->callchain = true;
	ev->max_stack = (unsigned int)n;
	return 0;
}

static int attr_alias(struct stream_event *ev, const char *value, char *why, size_t size)
{
	size_t len = value ? strlen(value) : 0;

	if (!len || len > 64 ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") !=
		    len) {
		snprintf(why, size, "alias=%.64s: expected letters, digits, _, - or .",
			 value ? value : "");
		return -1;
	}
	ev->alias = strdup(value);
	return 0;
}

static int attr_cpus(struct stream_event *ev, const char *value, char *why, size_t size)
{
	const char *bad = "";

	if (!value || numlist_parse(&ev->cpus, value, 65535, &bad)) {
		snprintf(why, size, "cpus=%.64s: expected a list such as 0-3,7",
			 value ? value : "");
		return -1;
	}
	return 0;
}

static const struct {
	const char *name;
	int (*set)(struct stream_event *ev, const char *value, char *why, size_t size);
} attrs[] = {
	{ "stack", attr_stack },
	{ "max-stack", attr_max_stack },
	{ "alias", attr_alias },
	{ "cpus", attr_cpus },
};

/* why: "max-stack=x: expected 1 to 127". */
static int bad_value(struct fault *f, const struct spec_item *item, const struct spec_attr *attr,
		     char *why)
{
	char message[300], *expected = strstr(why, ": expected ");

	if (!expected)
		return complain(f, item, attr->value_at, why, "the attribute's name alone");
	*expected = '\0';
	expected += strlen(": expected ");
	if (attr->value)
		snprintf(message, sizeof(message), "a value that can't be: %s", why);
	else
		snprintf(message, sizeof(message), "%s needs a value", attr->name);
	return complain(f, item, attr->value_at, message, expected);
}

bool event_attr_exists(const char *name)
{
	for (size_t i = 0; i < sizeof(attrs) / sizeof(*attrs); i++)
		if (!strcmp(attrs[i].name, name))
			return true;
	return false;
}

static int set_attr(struct stream_event *ev, const struct spec_item *item,
		    const struct spec_attr *attr, struct fault *f)
{
	struct nearest near;
	char why[256], expected[160] = "one of: stack, max-stack=N, alias=NAME, cpus=LIST";

	nearest_begin(&near, attr->name);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		nearest_offer(&near, attrs[i].name);
		if (strcmp(attrs[i].name, attr->name))
			continue;
		if (attrs[i].set(ev, attr->value, why, sizeof(why)))
			return bad_value(f, item, attr, why);
		return 0;
	}
	snprintf(why, sizeof(why), "unknown attribute \"%.100s\"", attr->name);
	if (nearest_get(&near))
		snprintf(expected, sizeof(expected), "did you mean %s?", nearest_get(&near));
	return complain(f, item, attr->at, why, expected);
}

/* ---- one event -------------------------------------------------------- */

static void event_free(struct stream_event *ev)
{
	free((char *)ev->name);
	free((char *)ev->sys);
	free((char *)ev->tracepoint);
	free((char *)ev->alias);
	free((char *)ev->filter);
	numlist_free(&ev->cpus);
}

static int event_fill(struct stream *s, struct stream_event *ev, const struct spec_item *item,
		      const char *sys, const char *name, struct fault *f)
{
	char full[256];

	ev->callchain = s->opts->call_graph || s->opts->user_callchain > 0 ||
			s->opts->kernel_callchain > 0;
	for (size_t i = 0; i < item->nattrs; i++)
		if (set_attr(ev, item, &item->attrs[i], f))
			return -1;
	snprintf(full, sizeof(full), "%s:%s", sys, ev->alias ? ev->alias : name);
	ev->name = strdup(full);
	ev->sys = strdup(sys);
	ev->tracepoint = strdup(name);
	ev->item = item;
	ev->filter = item->filter ? strdup(item->filter) : NULL;
	ev->wanted = true;
	ev->keep_own = !strcmp(name, "sched_switch");
	ev->from_glob = spec_is_glob(item->sys) || spec_is_glob(item->name);
	if (!ev->name || !ev->sys || !ev->tracepoint || (item->filter && !ev->filter))
		return fault_set(f, EXIT_FAILED, "out of memory");
	ev->fmt = tracefmt_load(s->formats, s->tracefs, sys, name, f);
	if (!ev->fmt)
		return -1;
	ev->min_raw = ev->fmt->min_size;
	return 0;
}

static int add_event(struct stream *s, const struct spec_item *item, const char *sys,
		     const char *name, struct fault *f)
{
	struct stream_event *v = realloc(s->events, (s->nevents + 1) * sizeof(*v));

	if (!v)
		return fault_set(f, EXIT_FAILED, "out of memory");
	s->events = v;
	memset(&v[s->nevents], 0, sizeof(*v));
	if (event_fill(s, &v[s->nevents], item, sys, name, f)) {
		event_free(&v[s->nevents]);
		return -1;
	}
	s->nevents++;
	return 0;
}

/* ---- names on this machine -------------------------------------------- */

struct expansion {
	struct stream *s;
	const struct spec_item *item;
	struct fault *f;
	size_t found;
};

static int expand_one(const struct catalog_entry *entry, void *ctx)
{
	struct expansion *x = ctx;

	if (fnmatch(x->item->sys, entry->group, 0) || fnmatch(x->item->name, entry->event, 0))
		return 0;
	x->found++;
	return add_event(x->s, x->item, entry->group, entry->event, x->f);
}

static int unknown_event(const struct spec_item *item, struct fault *f)
{
	char wanted[128], message[256], near[128], expected[160] = "`perf-prof list` shows the events";
	size_t at = item->at, sys = item->sys ? strlen(item->sys) : 0;

	snprintf(wanted, sizeof(wanted), "%s%s%s", item->sys ? item->sys : "",
		 item->sys ? ":" : "", item->name);
	if (item->sys)
		snprintf(message, sizeof(message), "there is no event %s on this machine", wanted);
	else
		snprintf(message, sizeof(message), "\"%s\" has no system: expected sys:name, a "
			 "tracepoint (other events are for perf-prof stat)", wanted);
	if (catalog_nearest(wanted, near, sizeof(near))) {
		snprintf(expected, sizeof(expected), "did you mean %s?", near);
		/* of a system that there is, the rest of the name is wrong */
		if (sys && !strncmp(near, item->sys, sys) && near[sys] == ':')
			at += sys + 1;
	}
	return complain(f, item, at, message, expected);
}

static int expand_glob(struct stream *s, const struct spec_item *item, struct fault *f)
{
	struct expansion x = { .s = s, .item = item, .f = f };
	char glob[256];

	for (size_t i = 0; i < item->nattrs; i++)
		if (!strcmp(item->attrs[i].name, "alias"))
			return complain(f, item, item->attrs[i].at, "alias= can't name all events of a glob",
					"a full event name, or no alias");
	snprintf(glob, sizeof(glob), "%s:%s", item->sys, item->name);
	if (catalog_each(CATALOG_TRACEPOINT, glob, expand_one, &x, NULL))
		return -1;
	if (!x.found)
		return complain(f, item, item->at, "this matches no event",
				"`perf-prof list 'GLOB'` shows what would match");
	return 0;
}

static bool tracepoint_exists(struct stream *s, const char *sys, const char *name)
{
	char path[512];

	if (strchr(sys, '/') || strchr(name, '/') || sys[0] == '.' || name[0] == '.')
		return false;
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", s->tracefs, sys, name);
	return access(path, F_OK) == 0;
}

static int add_item(struct stream *s, const struct spec_item *item, struct fault *f)
{
	if (!item->sys)
		return unknown_event(item, f);
	if (spec_is_glob(item->sys) || spec_is_glob(item->name))
		return expand_glob(s, item, f);
	if (!tracepoint_exists(s, item->sys, item->name))
		return unknown_event(item, f);
	return add_event(s, item, item->sys, item->name, f);
}

static int parse_all(struct stream *s, struct spec_list *list, struct fault *f)
{
	struct spec_error err;
	char text[1600];

	if (!s->opts->events.n)
		return fault_usage(f, "no event: -e EVENT[,EVENT...] is needed, such as "
				   "-e sched:sched_wakeup; `perf-prof list` shows the events");
	for (size_t i = 0; i < s->opts->events.n; i++) {
		int rc = spec_parse(list, s->opts->events.v[i], &err);

		if (rc == -ENOMEM)
			return fault_set(f, EXIT_FAILED, "out of memory");
		if (rc) {
			spec_error_text(&err, text, sizeof(text));
			return fault_usage(f, "%s", text);
		}
	}
	return 0;
}

static int find_tracefs(struct stream *s, struct fault *f)
{
	struct pev_error err = {0};
	int rc = pev_tracefs_path(s->tracefs, sizeof(s->tracefs), &err);

	if (rc == -ENOENT && !mount("nodev", TRACEFS, "tracefs", 0, NULL)) {
		/* the machine was changed: that is said to whoever listens at all */
		note(s->opts->quiet ? -1 : 1, "tracefs was not mounted: mounted it on " TRACEFS);
		rc = pev_tracefs_path(s->tracefs, sizeof(s->tracefs), &err);
	}
	return rc ? fault_from_pev(f, EXIT_FAILED, &err) : 0;
}

/* Two items with one name would share a handler without being told apart. */
static int check_names(struct stream *s, struct fault *f)
{
	for (size_t i = 0; i < s->nevents; i++)
		for (size_t k = i + 1; k < s->nevents; k++)
			if (!strcmp(s->events[i].name, s->events[k].name))
				return fault_usage(f, "two events of -e are called %s; give one of "
						   "them another name: alias=NAME",
						   s->events[i].name);
	return 0;
}

static void choose_layouts(struct stream *s)
{
	for (size_t i = 1; i < s->nevents; i++)
		if (s->events[i].callchain != s->events[0].callchain)
			s->mixed = true;
	for (size_t i = 0; i < s->nevents && !s->mixed; i++)
		for (size_t k = i + 1; k < s->nevents; k++)
			if (s->events[i].fmt == s->events[k].fmt)
				s->mixed = true;
	for (size_t i = 0; i < s->nevents; i++) {
		uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
				PERF_SAMPLE_RAW;

		if (s->mixed)
			type |= PERF_SAMPLE_IDENTIFIER;
		if (s->events[i].callchain)
			type |= PERF_SAMPLE_CALLCHAIN;
		layout_from_sample_type(&s->events[i].layout, type);
	}
}

int events_from_specs(struct stream *s, struct fault *f)
{
	int rc = parse_all(s, &s->specs, f);

	if (!rc)
		rc = find_tracefs(s, f);
	for (size_t i = 0; i < s->specs.nitems && !rc; i++)
		rc = add_item(s, &s->specs.items[i], f);
	if (!rc)
		rc = check_names(s, f);
	if (!rc)
		choose_layouts(s);
	return rc;
}

void events_free(struct stream *s)
{
	for (size_t i = 0; i < s->nevents; i++)
		event_free(&s->events[i]);
	free(s->events);
	spec_free(&s->specs);
	s->events = NULL;
	s->nevents = 0;
}
