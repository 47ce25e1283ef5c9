/* SPDX-License-Identifier: Apache-2.0 */
/* The events of this machine, by their names in event lists. */
#ifndef EVENTS_CATALOG_H
#define EVENTS_CATALOG_H

#include <perfevent.h>

#include <stddef.h>

enum catalog_kind {
	CATALOG_TRACEPOINT = 1 << 0,
	CATALOG_SOFTWARE = 1 << 1,
	CATALOG_HARDWARE = 1 << 2,
	CATALOG_CACHE = 1 << 3,
	CATALOG_PMU = 1 << 4,
	CATALOG_ALL = (1 << 5) - 1,
	CATALOG_VENDOR = 1 << 6,   /* vendor's names, from libpfm4: hundreds, so not in ALL */
	/* not in the catalog, added by the caller */
	CATALOG_SOURCE = 1 << 5,   /* stream/list/source.h */
	CATALOG_FUNCTION = 1 << 7, /* of a file: symbols/elf/places.h */
	CATALOG_USDT = 1 << 8,
};

/* All pointers are valid until the callback returns. */
struct catalog_entry {
	enum catalog_kind kind;
	const char *name;     /* "sched:sched_switch", "cpu-clock", "cpu/cache-misses/" */
	const char *group;    /* system of a tracepoint, PMU of a PMU's or vendor's event; else NULL */
	const char *event;    /* the name without the group */
	const char *alias;    /* a second name ("faults" for "page-faults"), or NULL */
	const char *terms;    /* PMU: "event=0x3c", from sysfs; else NULL */
	const char *unit;     /* PMU: unit of the count ("Joules"), or NULL */
	const char *summary;  /* source, vendor: one line; else NULL */
	/* Hardware and cache: 0 if it can be opened here, else -errno of the attempt; -ENOENT:
	 * not supported by this machine. Other kinds are not tried: 0. */
	int opens;
};

/* Returns 0 to continue; anything else ends the walk and is returned. */
typedef int catalog_fn(const struct catalog_entry *entry, void *ctx);

/*
 * Calls fn for the events of `kinds` whose name matches `glob` (NULL = all): as a whole
 * ("sched:*"), without its group ("sched_wak*"), by its alias, or by its group alone ("sched").
 * Case is ignored. Tracepoints are sorted by system and name.
 *
 * Returns 0, or what fn returned, or -errno with err filled if a kind could not be read (tracefs
 * without permission): that kind is left out, all others are complete.
 */
int catalog_each(unsigned int kinds, const char *glob, catalog_fn *fn, void *ctx,
		 struct pev_error *err);

/* The most similar event for a misspelt name: "sched:sched_wakeup" for "sched:sched_wakup",
 * "schd:sched_wakeup" and "sched_wakup". Returns buf, or NULL if none is similar enough or it does not fit. */
const char *catalog_nearest(const char *name, char *buf, size_t size);

/* The kind as one word ("tracepoint", "software", "hardware", "cache", "pmu", "vendor",
 * "source"), and the kind for a word on the command line (also "hw", "sw", "libpfm"), 0: unknown. */
const char *catalog_kind_word(enum catalog_kind kind);
unsigned int catalog_kind_by_word(const char *word);
/* 0 if the event opens on the calling thread, for user space only, which most privilege levels allow; or -errno. Sets the
 * bits for that in attr. */
int catalog_try(struct perf_event_attr *attr);
#endif
