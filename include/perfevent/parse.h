/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/parse.h - event lists, in the syntax of perf stat -e */
#ifndef PEV_PARSE_H
#define PEV_PARSE_H

#include "attr.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pev_attr_list;

/* One event of a parsed list. Strings and attr are borrowed from the list. */
struct pev_parsed {
	const struct perf_event_attr *attr;   /* in a pev_attr_buf of attr->size bytes */
	const char *label;      /* from the name= term, or pev_attr_label() */
	const char *unit;       /* of the PMU's event, or NULL */
	double scale;           /* see struct pev_pmu_event */
	bool per_package;
	bool snapshot;
	bool precise_max;       /* :P - try precise_ip 3, 2, 1, 0 in turn */
	bool weak;              /* :W - if the group cannot be opened, open its events alone */
	bool group_read;        /* :S - sample the leader, read the others with it */
	bool percore;           /* the percore term: sum over the threads of a core */
	size_t leader;          /* index of the group's leader; its own index if not in a group */
	const char *group_name; /* from "name:{...}", or NULL */
	const int *cpus;        /* CPUs of its PMU; NULL = all */
	size_t ncpus;
	size_t at, length;      /* position in the text, in bytes */
};

/* Parses the syntax of `perf stat -e`: names, rNNN, TYPE:CONFIG, pmu/terms/, sys:name (with
 * wildcards), mem:ADDR[/LEN][:rwx], modifiers :ukhIGHpPDeSW, {groups}:modifiers, and lists of
 * them. A wildcard, a PMU with several instances and a generic name on a hybrid machine give
 * several events. On failure *out is NULL, *at (at may be NULL) is the offset of the error in
 * text, and err has what was expected there. -EINVAL, -ENOENT, -EACCES (tracefs), -ENOMEM. */
PEV_API int pev_attr_parse(struct pev_attr_list **out, const char *text, size_t *at,
			   struct pev_error *err);
/* list may be NULL. Frees everything borrowed from it. */
PEV_API void pev_attr_list_free(struct pev_attr_list *list);
/* Number of events. */
PEV_API size_t pev_attr_list_size(const struct pev_attr_list *list);
/* Event i; NULL past the end. */
PEV_API const struct pev_parsed *pev_attr_list_at(const struct pev_attr_list *list, size_t i);

/* The name of attr as accepted by pev_attr_parse(), with modifiers ("cycles:u",
 * "L1-dcache-loads", "sched:sched_switch", "msr/tsc/", "r1a8"); perf list's name if there is one.
 * Always terminated; returns the length of the whole name. */
PEV_API size_t pev_attr_label(const struct perf_event_attr *attr, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
