/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each kind of event has a walker that offers its events; one function decides whether an offer
 * matches and passes it on.
 */
#include "events/catalog.h"

#include "base/nearest.h"
#include "base/textfile.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define PMU_DEVICES "/sys/bus/event_source/devices"

struct walk {
	const char *glob;
	catalog_fn *fn;
	void *ctx;
	struct pev_error *err;
	bool try_open;
};

static bool matches(const char *glob, const char *name)
{
	return name && !fnmatch(glob, name, FNM_CASEFOLD);
}

static bool entry_matches(const struct walk *w, const struct catalog_entry *e)
{
	return !w->glob || matches(w->glob, e->name) || matches(w->glob, e->event) ||
	       matches(w->glob, e->alias) || (e->group && !strcasecmp(w->glob, e->group));
}

/* ------------------------------------------------------------------------
 * Folders, in alphabetical order
 */

static int no_dots(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Calls each(name) for the entries of a folder until it returns other than 0. Returns that, or
 * -errno if the folder is not readable. */
static int each_in(const char *path, int (*each)(struct walk *, const char *, const char *),
		   struct walk *w)
{
	struct dirent **list;
	int n = scandir(path, &list, no_dots, by_name);
	int ret = n < 0 ? -errno : 0;

	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = each(w, path, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return ret;
}

/* Reads a small sysfs file without its last newline. */
static int read_line(const char *path, char *buf, size_t size)
{
	ssize_t n = textfile_read(path, buf, size);

	buf[strcspn(buf, "\n")] = '\0';
	return n < 0 ? (int)n : 0;
}

/* ------------------------------------------------------------------------
 * Tracepoints: events/SYSTEM/EVENT/id
 */

/* Events without an id (most of ftrace:*) cannot be opened by perf. */
static bool has_id(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s/id", dir, name);

	return n > 0 && (size_t)n < sizeof(path) && textfile_exists(path);
}

static int offer_tracepoint(struct walk *w, const char *dir, const char *event)
{
	char name[512];
	const char *sys = strrchr(dir, '/') + 1;
	struct catalog_entry e = {
		.kind = CATALOG_TRACEPOINT, .name = name, .group = sys, .event = event,
	};
	int n = snprintf(name, sizeof(name), "%s:%s", sys, event);

	if (n < 0 || (size_t)n >= sizeof(name) || !entry_matches(w, &e) || !has_id(dir, event))
		return 0;
	return w->fn(&e, w->ctx);
}

static int walk_system(struct walk *w, const char *dir, const char *sys)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, sys);
	int ret;

	if (n < 0 || (size_t)n >= sizeof(path))
		return 0;
	ret = each_in(path, offer_tracepoint, w);
	/* "enable" and the like are files; a system may vanish with its module. */
	return ret == -ENOTDIR || ret == -ENOENT ? 0 : ret;
}

static void tell_unreadable(struct walk *w, const char *path, int err)
{
	if (!w->err)
		return;
	w->err->code = -err;
	snprintf(w->err->asked, sizeof(w->err->asked), "list the tracepoints in %.200s", path);
	snprintf(w->err->said, sizeof(w->err->said), "%s", strerror(-err));
	snprintf(w->err->remedy, sizeof(w->err->remedy), "run as root");
}

static int walk_tracepoints(struct walk *w)
{
	char tracefs[PATH_MAX / 2], path[PATH_MAX];
	int err = pev_tracefs_path(tracefs, sizeof(tracefs), w->err);

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/events", tracefs);
	err = each_in(path, walk_system, w);
	if (err < 0 && w->err && !w->err->code)
		tell_unreadable(w, path, err);
	return err;
}

/* ------------------------------------------------------------------------
 * Events in fixed tables */

struct named {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
};

int catalog_try(struct perf_event_attr *attr)
{
	struct pev_event *ev;
	int err;

	attr->disabled = attr->exclude_kernel = attr->exclude_hv = 1;
	err = pev_event_open(&ev, attr, pev_target_self(), NULL, NULL);
	if (!err)
		pev_event_close(ev);
	return err;
}

static int try_open(const struct named *event)
{
	struct perf_event_attr attr;
	int err;

	pev_attr_init(&attr, event->type, event->config);
	err = catalog_try(&attr);
	/* the attr is so simple that only the event itself can be the reason */
	return err == -EINVAL || err == -EOPNOTSUPP || err == -ENODEV ? -ENOENT : err;
}

static int offer_named(struct walk *w, enum catalog_kind kind, const struct named *event)
{
	struct catalog_entry e = {
		.kind = kind, .name = event->name, .event = event->name, .alias = event->alias,
	};

	if (!entry_matches(w, &e))
		return 0;
	if (w->try_open && kind != CATALOG_SOFTWARE)
		e.opens = try_open(event);
	return w->fn(&e, w->ctx);
}

typedef const char *name_at(unsigned int index, uint64_t *config);

/* The library's tables have a row per name; rows with the same config are names of one event.
 * Finds the second name for the event in row i; false if row i is a second name. */
static bool find_alias(name_at *at, unsigned int i, uint64_t config, const char **alias)
{
	const char *name;
	uint64_t other;

	*alias = NULL;
	for (unsigned int k = 0; (name = at(k, &other)); k++) {
		if (other != config || k == i)
			continue;
		if (k < i)
			return false;
		*alias = name;
		break;
	}
	return true;
}

static int compare_named(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int walk_names(struct walk *w, enum catalog_kind kind, uint32_t type, name_at *at)
{
	struct named events[64];
	size_t n = 0;
	int ret = 0;

	for (unsigned int i = 0; n < COUNT(events); i++) {
		struct named *e = &events[n];

		e->type = type;
		e->name = at(i, &e->config);
		if (!e->name)
			break;
		n += find_alias(at, i, e->config, &e->alias);
	}
	qsort(events, n, sizeof(events[0]), compare_named);
	for (size_t i = 0; !ret && i < n; i++)
		ret = offer_named(w, kind, &events[i]);
	return ret;
}

static int walk_software(struct walk *w)
{
	return walk_names(w, CATALOG_SOFTWARE, PERF_TYPE_SOFTWARE, pev_software_name);
}

static int walk_hardware(struct walk *w)
{
	return walk_names(w, CATALOG_HARDWARE, PERF_TYPE_HARDWARE, pev_hardware_name);
}

static int walk_caches(struct walk *w)
{
	uint64_t config;
	char name[64];
	bool usual;
	int ret = 0;

	for (unsigned int i = 0; !ret && pev_cache_at(i, &config, &usual); i++) {
		struct named event = { .name = name, .type = PERF_TYPE_HW_CACHE, .config = config };

		if (!usual || pev_cache_name(config, name, sizeof(name)))
			continue;
		ret = offer_named(w, CATALOG_CACHE, &event);
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * PMU events: DEVICE/events/NAME, with NAME.unit and NAME.scale
 */

static bool is_property(const char *name)
{
	static const char *const endings[] = { ".unit", ".scale", ".per-pkg", ".snapshot" };
	size_t len = strlen(name);

	for (size_t i = 0; i < COUNT(endings); i++) {
		size_t end = strlen(endings[i]);

		if (len > end && !strcmp(name + len - end, endings[i]))
			return true;
	}
	return false;
}

static int offer_pmu_event(struct walk *w, const char *dir, const char *event)
{
	const char *pmu = dir + strlen(PMU_DEVICES "/");
	char device[256], name[520], terms[512], unit[64], path[PATH_MAX];
	struct catalog_entry e = {
		.kind = CATALOG_PMU, .name = name, .group = device, .event = event, .terms = terms,
	};

	if (is_property(event))
		return 0;
	snprintf(device, sizeof(device), "%.*s", (int)strcspn(pmu, "/"), pmu);
	snprintf(name, sizeof(name), "%s/%s/", device, event);
	if (!entry_matches(w, &e))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, event);
	if (read_line(path, terms, sizeof(terms)))
		return 0;
	snprintf(path, sizeof(path), "%s/%s.unit", dir, event);
	if (!read_line(path, unit, sizeof(unit)))
		e.unit = unit;
	return w->fn(&e, w->ctx);
}

static int walk_device(struct walk *w, const char *dir, const char *device)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/%s/events", dir, device);
	ret = each_in(path, offer_pmu_event, w);
	/* Many PMUs have no named events. */
	return ret == -ENOENT || ret == -ENOTDIR ? 0 : ret;
}

static int walk_pmus(struct walk *w)
{
	int ret = each_in(PMU_DEVICES, walk_device, w);

	/* Containers may hide sysfs: then there are no PMUs to list. */
	return ret == -ENOENT || ret == -EACCES ? 0 : ret;
}

/* ------------------------------------------------------------------------
 * The vendor's names, by libpfm4 */

static int offer_vendor_event(const char *pmu, const char *name, const char *desc, void *ctx)
{
	struct walk *w = ctx;
	const struct catalog_entry e = {
		.kind = CATALOG_VENDOR, .name = name, .group = pmu, .event = name, .summary = desc,
	};

	return entry_matches(w, &e) ? w->fn(&e, w->ctx) : 0;
}

static int walk_vendor(struct walk *w)
{
	int ret = pev_vendor_each(offer_vendor_event, w);

	return ret == -ENOTSUP ? 0 : ret;
}

/* ------------------------------------------------------------------------
 * The kinds
 */

static const struct {
	enum catalog_kind kind;
	const char *words[3];
	int (*walk)(struct walk *);
} kinds_table[] = {
	{ CATALOG_TRACEPOINT, { "tracepoint", "tracepoints" }, walk_tracepoints },
	{ CATALOG_SOFTWARE, { "software", "sw" }, walk_software },
	{ CATALOG_HARDWARE, { "hardware", "hw" }, walk_hardware },
	{ CATALOG_CACHE, { "cache", "hwcache" }, walk_caches },
	{ CATALOG_PMU, { "pmu" }, walk_pmus },
	{ CATALOG_VENDOR, { "vendor", "libpfm", "libpfm4" }, walk_vendor },
	{ CATALOG_SOURCE, { "source", "sources" }, NULL },
	{ CATALOG_FUNCTION, { "function" }, NULL },
	{ CATALOG_USDT, { "usdt" }, NULL },
};

const char *catalog_kind_word(enum catalog_kind kind)
{
	for (size_t i = 0; i < COUNT(kinds_table); i++)
		if (kinds_table[i].kind == kind)
			return kinds_table[i].words[0];
	return "";
}

unsigned int catalog_kind_by_word(const char *word)
{
	for (size_t i = 0; i < COUNT(kinds_table); i++)
		for (size_t k = 0; k < COUNT(kinds_table[i].words) && kinds_table[i].words[k]; k++)
			if (!strcasecmp(kinds_table[i].words[k], word))
				return kinds_table[i].kind;
	return 0;
}

/* Calls the caller's callback for the walkers. Whatever that returns, the walkers see 1, which is
 * never an -errno of their own. */
struct stopper {
	catalog_fn *fn;
	void *ctx;
	int ret;
};

static int call(const struct catalog_entry *entry, void *ctx)
{
	struct stopper *s = ctx;

	s->ret = s->fn(entry, s->ctx);
	return s->ret ? 1 : 0;
}

static int walk_kinds(unsigned int kinds, const char *glob, bool try, catalog_fn *fn, void *ctx,
		      struct pev_error *err)
{
	struct stopper s = { fn, ctx, 0 };
	struct walk w = { glob, call, &s, err, try };
	int failed = 0;

	if (err)
		*err = (struct pev_error){ 0 };
	for (size_t i = 0; !s.ret && i < COUNT(kinds_table); i++) {
		int ret = kinds_table[i].walk && kinds & kinds_table[i].kind ? kinds_table[i].walk(&w) : 0;

		if (!s.ret && ret && !failed)
			failed = ret;
	}
	return s.ret ? s.ret : failed;
}

int catalog_each(unsigned int kinds, const char *glob, catalog_fn *fn, void *ctx,
		 struct pev_error *err)
{
	return walk_kinds(kinds, glob, true, fn, ctx, err);
}

/* ------------------------------------------------------------------------
 * Did you mean ...?
 */

struct search {
	struct nearest whole;      /* among full names */
	struct nearest part;       /* among names without their system, if the name has none */
	char of_part[512];         /* the full name for part's best */
	char system[128];          /* before the colon; "": none */
	const char *contained;     /* searches for names that contain this, */
	char holder[512];          /* and the shortest that does */
};

/* sched:wakeup is near to sched:sched_wakeup, and schd:wakeup too; nosuch:event is not near to ras:mc_event. */
static bool is_near_system(const struct search *s, const struct catalog_entry *e)
{
	struct nearest near;

	if (!s->system[0] || !strcasecmp(e->event, s->contained))
		return true;
	nearest_begin(&near, s->system);
	nearest_offer(&near, e->group ? e->group : "");
	return nearest_get(&near);
}

/* For "openat", sys_enter_openat goes before sys_exit_openat, which has no arguments. */
static size_t holder_length(const char *name)
{
	return strlen(name) + (strstr(name, ":sys_exit_") ? strlen("enter") - strlen("exit") + 1 : 0);
}

static void take_holder(struct search *s, const struct catalog_entry *e)
{
	bool shorter = !s->holder[0] || holder_length(e->name) < holder_length(s->holder);

	if (s->contained && shorter && strcasestr(e->event, s->contained) && is_near_system(s, e))
		snprintf(s->holder, sizeof(s->holder), "%s", e->name);
}

static int offer(const struct catalog_entry *e, void *ctx)
{
	struct search *s = ctx;
	unsigned int before = s->part.best;

	nearest_offer(&s->whole, e->name);
	if (e->alias)
		nearest_offer(&s->whole, e->alias);
	if (e->group)
		nearest_offer(&s->part, e->event);
	if (s->part.best < before)
		snprintf(s->of_part, sizeof(s->of_part), "%s", e->name);
	take_holder(s, e);
	return 0;
}

const char *catalog_nearest(const char *name, char *buf, size_t size)
{
	const char *colon = strchr(name, ':');
	const char *event = colon ? colon + 1 : name;
	struct search s = { .contained = strlen(event) >= 4 ? event : NULL };
	const char *found;
	int n;

	snprintf(s.system, sizeof(s.system), "%.*s", colon ? (int)(colon - name) : 0, name);
	nearest_begin(&s.whole, name);
	nearest_begin(&s.part, colon ? "" : name);
	walk_kinds(CATALOG_ALL, NULL, false, offer, &s, NULL);
	found = nearest_get(&s.whole);
	if (s.of_part[0] && (!found || s.part.best < s.whole.best))
		found = s.of_part;
	if (!found && s.holder[0])
		found = s.holder;
	if (!found)
		return NULL;
	n = snprintf(buf, size, "%s", found);
	return n >= 0 && (size_t)n < size ? buf : NULL;
}
