/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of -e to events: looks up names, expands globs, loads formats. */
#include "base/nearest.h"
#include "base/textfile.h"
#include "events/catalog.h"
#include "events/probename.h"
#include "events/spec.h"
#include "stream/list/groups.h"
#include "stream/list/list.h"
#include "stream/list/maker.h"
#include "stream/list/useronly.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSCALLS "syscalls"   /* the system of the kernel's tracepoints at each system call */

static int complain(struct fault *f, const struct spec_item *item, size_t at, const char *message,
		    const char *expected)
{
	return spec_fault(f, item, at, message, expected);
}

/* ---- tracepoints ------------------------------------------------------ */

/* The kernel takes the registers of a system call's caller, of a probe in a program those of the program, and of all other
 * tracepoints its own. */
static bool is_of_user(const struct stream *s, const struct stream_event *ev)
{
	return !strcmp(ev->sys, SYSCALLS) || probes_is_of_program(s->list.tracefs, ev->sys, ev->tracepoint);
}

/* :u, or what the kernel allows this user: where nothing is left out, none need ask for it. */
static int settle_user_only(struct stream *s, struct stream_event *ev, const struct spec_item *item, struct fault *f)
{
	char message[300], expected[200];

	ev->asked.user_only = item->user_only || (!strcmp(ev->sys, SYSCALLS) && useronly_is_needed(s));
	if (!item->user_only || is_of_user(s, ev))
		return 0;
	snprintf(message, sizeof(message), "%s:%s happens in the kernel only, which :u leaves out", ev->sys, ev->tracepoint);
	snprintf(expected, sizeof(expected), "%s:%s without :u (of tracepoints, only syscalls:* take it)", ev->sys, ev->tracepoint);
	return complain(f, item, item->at, message, expected);
}

static int add_tracepoint(struct stream *s, const struct spec_item *item, const char *sys,
			  const char *name, struct fault *f)
{
	struct stream_event *ev = events_append(s, item, f);

	if (!ev || event_attrs_set(s, ev, item, EVENT_TRACEPOINT, f) ||
	    event_set_tracepoint(ev, sys, name, f))
		return -1;
	ev->asked.from_glob = spec_is_glob(item->sys) || spec_is_glob(item->name);
	ev->fmt = tracefmt_load(s->list.formats, s->list.tracefs, sys, name, f);
	if (!ev->fmt)
		return -1;
	ev->min_raw = ev->fmt->min_size;
	return settle_user_only(s, ev, item, f);
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
	return add_tracepoint(x->s, x->item, entry->group, entry->event, x->f);
}

/* Finds a source with a similar name. */
static bool nearest_source(const struct stream *s, const char *wanted, char *buf, size_t size)
{
	const struct source_ops *const *table = s->opts->sources;
	struct nearest near;

	nearest_begin(&near, wanted);
	for (; table && *table; table++)
		nearest_offer(&near, (*table)->name);
	if (nearest_get(&near))
		snprintf(buf, size, "%s", nearest_get(&near));
	return nearest_get(&near);
}

/* Whether the first slot looks like terms, or the name of an event, of a PMU; a filter of a
 * tracepoint does not. */
static bool reads_like_pmu(const struct spec_item *item)
{
	return !item->sys && item->filter &&
	       (item->terms || !item->filter[strspn(item->filter, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
							   "0123456789_.-")]);
}

/* Suggests a PMU with a similar name, or lists all. */
static void put_pmus(const char *wanted, char *buf, size_t size)
{
	struct nearest near;
	size_t used = 0;
	char *names;

	*buf = '\0';
	if (pev_pmu_list(&names))
		return;
	nearest_begin(&near, wanted);
	for (const char *p = names; *p; p += strlen(p) + 1) {
		nearest_offer(&near, p);
		if (used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "one of the PMUs: ", p);
	}
	if (nearest_get(&near))
		snprintf(buf, size, "did you mean the PMU %s?", nearest_get(&near));
	free(names);
}

static int unknown_pmu(const struct spec_item *item, struct fault *f)
{
	char message[256], expected[400];

	snprintf(message, sizeof(message), "there is no PMU, and no event with terms, called %s", item->name);
	put_pmus(item->name, expected, sizeof(expected));
	return complain(f, item, item->at, message, *expected ? expected : "an event that `perf-prof list` shows");
}

/* Names without a system may be those of tracepoints, which this user may not see. */
static bool tracepoints_unseen(const struct spec_item *item)
{
	char path[256];
	struct pev_error err = {0};

	return !item->sys && pev_tracefs_path(path, sizeof(path), &err) == -EACCES;
}

static int unknown_event(const struct stream *s, const struct spec_item *item, struct fault *f)
{
	bool pmu = reads_like_pmu(item), found;
	char wanted[128], message[320], near[128], expected[160] = "an event that `perf-prof list` shows";
	size_t at = item->at, sys = item->sys ? strlen(item->sys) : 0;

	snprintf(wanted, sizeof(wanted), "%s%s%s", item->sys ? item->sys : "",
		 item->sys ? ":" : "", item->name);
	snprintf(message, sizeof(message), "there is no event %s on this machine%s%s", wanted,
		 item->sys ? "" : ", nor a PMU or a source of that name", tracepoints_unseen(item) ?
		 " (tracepoints could not be looked up: this user may not read /sys/kernel/tracing)" : "");
	found = nearest_source(s, wanted, near, sizeof(near)) || catalog_nearest(wanted, near, sizeof(near));
	if (pmu && (!found || strchr(near, ':')))
		return unknown_pmu(item, f);
	if (found) {
		snprintf(expected, sizeof(expected), "did you mean %s?", near);
		/* the system exists: the error is in the rest of the name */
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
			return complain(f, item, item->attrs[i].at, "alias= names one event, and "
					"this glob may match several",
					"a full event name, or no alias");
	snprintf(glob, sizeof(glob), "%s:%s", item->sys, item->name);
	if (catalog_each(CATALOG_TRACEPOINT, glob, expand_one, &x, NULL))
		return -1;
	if (!x.found)
		return complain(f, item, item->at, "this matches no event",
				"`perf-prof list 'GLOB'` shows what would match");
	return 0;
}

static bool tracepoint_exists(const struct stream *s, const char *sys, const char *name)
{
	char path[512];

	if (strchr(sys, '/') || strchr(name, '/') || sys[0] == '.' || name[0] == '.')
		return false;
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", s->list.tracefs, sys, name);
	return textfile_exists(path);
}

/* Looks at both parts, not the whole text: "[" in a quoted path does not make a probe a glob. */
static bool is_glob(const struct spec_item *item)
{
	return spec_is_glob(item->sys) || spec_is_glob(item->name);
}

/* "sys:name:u": the modifier is cut off the name of a tracepoint. */
static void take_modifier(const struct stream *s, struct spec_item *item)
{
	char *colon = strrchr(item->name, ':');

	if (!colon || strcmp(colon, ":u"))
		return;
	*colon = '\0';
	item->user_only = is_glob(item) || tracepoint_exists(s, item->sys, item->name);
	if (!item->user_only)
		*colon = ':';
}

/*
 * The kinds of events, in the order in which a name is looked up. If a user without privileges
 * cannot read tracefs, that is the error for a name that is of no other kind.
 */
static enum plain_answer add_traced(struct stream *s, struct spec_item *item, struct fault *f)
{
	int rc;

	if (!item->sys || !s->list.tracefs[0] || probe_word_of(item))
		return PLAIN_NONE;
	take_modifier(s, item);
	if (is_glob(item))
		rc = expand_glob(s, item, f);
	else if (tracepoint_exists(s, item->sys, item->name))
		rc = add_tracepoint(s, item, item->sys, item->name, f);
	else
		return PLAIN_NONE;
	return rc ? PLAIN_FAILED : PLAIN_ADDED;
}

static enum plain_answer (*const lookups[])(struct stream *, const struct spec_item *,
					    struct fault *) = {
	probe_add_item, source_add_item, plain_add,
};

static int add_item(struct stream *s, struct spec_item *item, struct fault *f)
{
	struct fault no_tracefs = { 0 };
	enum plain_answer answer;

	if (item->sys && !s->list.tracefs[0])
		events_find_tracefs(s, &no_tracefs);
	answer = add_traced(s, item, f);
	for (size_t i = 0; i < sizeof(lookups) / sizeof(*lookups) && answer == PLAIN_NONE; i++)
		answer = lookups[i](s, item, f);
	if (answer != PLAIN_NONE)
		return answer == PLAIN_ADDED ? 0 : -1;
	if (no_tracefs.exit_code) {
		/* who may only read tracefs still cannot make probes */
		if (no_tracefs.error == EACCES && probe_word_of(item))
			return probes_refuse(probe_word_of(item)->space, f);
		*f = no_tracefs;
		return -1;
	}
	return unknown_event(s, item, f);
}

/* Two events of one software event: samples may have each other's ids, and nothing else tells them
 * apart. See strays.h. */
static int check_software(struct stream *s, struct fault *f)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		for (size_t k = i + 1; k < s->list.nevents; k++) {
			struct stream_event *a = &s->list.events[i], *b = &s->list.events[k];

			if (plain_may_stray(a) && plain_may_stray(b) &&
			    a->sampling->attr.attr.config == b->sampling->attr.attr.config)
				return fault_usage(f, "%s and %s are the same software event, whose samples "
						   "the kernel mixes up: use only one of them", a->name, b->name);
		}
	return 0;
}

int events_from_specs(struct stream *s, struct fault *f)
{
	int rc = events_parse(s, f);

	for (size_t i = 0; i < s->list.specs.nitems && !rc; i++)
		rc = add_item(s, &s->list.specs.items[i], f);
	if (!rc)
		rc = groups_apply(s, f);
	if (!rc)
		rc = events_check_names(s, f);
	if (!rc)
		rc = check_software(s, f);
	if (!rc)
		rc = makers_watch(s, f);
	if (!rc)
		chainways_settle(s);
	if (!rc)
		rc = layouts_choose(s, f);
	if (!rc)
		useronly_tell(s);
	return rc ? rc : makers_begin(s, f);
}
