/* SPDX-License-Identifier: Apache-2.0 */
/* What events this machine has, by the names that an event list takes. */
#ifndef EVENTS_CATALOG_H
#define EVENTS_CATALOG_H

#include <perfevent.h>

#include <stddef.h>
#include <stdint.h>

enum catalog_kind {
	CATALOG_TRACEPOINT = 1 << 0,
	CATALOG_SOFTWARE = 1 << 1,
	CATALOG_HARDWARE = 1 << 2,
	CATALOG_CACHE = 1 << 3,
	CATALOG_PMU = 1 << 4,
	CATALOG_ALL = (1 << 5) - 1,
	CATALOG_VENDOR = 1 << 6,   /* the CPU's own, by libpfm4: hundreds, so never among ALL */
	CATALOG_SOURCE = 1 << 5,   /* stream/source.h: not in the catalog, whoever lists adds them */
};

/* Everything in it lives until the callback returns. */
struct catalog_entry {
	enum catalog_kind kind;
	const char *name;     /* "sched:sched_switch", "cpu-clock", "cpu/cache-misses/" */
	const char *group;    /* system of a tracepoint, PMU of a PMU's or vendor's event; else NULL */
	const char *event;    /* the name without its group */
	const char *alias;    /* a second name ("faults" for "page-faults"), or NULL */
	const char *terms;    /* PMU: "event=0x3c", as sysfs has it; else NULL */
	const char *unit;     /* PMU: of the count ("Joules"), or NULL */
	const char *summary;  /* source, vendor: in a line; else NULL */
	/* Hardware and cache: 0 if it opens here, else -errno of trying; -ENOENT means
	 * that this machine lacks it. Other kinds are not tried: 0. */
	int opens;
};

/* Returns 0 to go on; anything else ends the walk and is handed through. */
typedef int catalog_fn(const struct catalog_entry *entry, void *ctx);

/*
 * Calls fn for the events of `kinds` whose name matches `glob` (NULL = all): as a whole
 * ("sched:*"), without its group ("sched_wak*"), by its alias, or by its group alone
 * ("sched"). Case does not count. Tracepoints come sorted by system and name.
 *
 * Returns 0, or what fn returned, or -errno with err filled where a kind could not be
 * read (tracefs without permission): that one is left out, all others came.
 */
int catalog_each(unsigned int kinds, const char *glob, catalog_fn *fn, void *ctx,
		 struct pev_error *err);

/* The name that a misspelt event probably meant: "sched:sched_wakeup" for
 * "sched:sched_wakup", "schd:sched_wakeup" and "sched_wakup". Returns buf, or NULL if
 * there is none near enough or it does not fit. */
const char *catalog_nearest(const char *name, char *buf, size_t size);

/* The kind as one word ("tracepoint", "software", "hardware", "cache", "pmu", "vendor", "source"), and
 * the kind of a word as users type it (also "hw", "sw", "libpfm"), 0 if it is none. */
const char *catalog_kind_word(enum catalog_kind kind);
unsigned int catalog_kind_by_word(const char *word);
#endif
