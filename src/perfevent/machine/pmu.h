/* SPDX-License-Identifier: Apache-2.0 */
/* A PMU's description, and building an attr from its terms. */
#ifndef PERFEVENT_MACHINE_PMU_H
#define PERFEVENT_MACHINE_PMU_H

#include "perfevent.h"

#define PEV_PMU_ROOT_ "/sys/bus/event_source/devices"

struct pev_pmu {
	char *name;
	uint32_t type;
	bool core;
	bool hybrid;           /* one core type of several */
	struct pev_pmu_format *formats;
	size_t nformats;
	struct pev_pmu_event *events;
	size_t nevents;
	int *cpus;
	size_t ncpus;
};

/* The public functions with another folder in place of sysfs, for tests. */
int pev_pmu_open_at_(struct pev_pmu **out, const char *root, const char *name,
		     struct pev_error *err);
int pev_pmu_list_at_(const char *root, char **names);
int pev_pmu_lookup_type_at_(const char *root, const char *name, uint32_t *type);

/* Parses "config1:0-7,32-35" into word and bits. 0 or -EBADMSG. */
int pev_pmu_parse_format_(const char *text, unsigned int *word, uint64_t *bits);
/* Parses "0-3,7" into a malloc'ed list. 0, -EBADMSG, -ENOMEM. */
int pev_pmu_parse_cpus_(const char *text, int **cpus, size_t *n);

/* State of building an attr from terms. Zero it but for pmu and buf. */
struct pev_pmu_build {
	const struct pev_pmu *pmu;
	union pev_attr_buf *buf;
	const struct pev_pmu_event *event;          /* the event named last, or NULL */
	const struct pev_pmu_format *missing[8];    /* "?" in an event, without a value so far */
	size_t nmissing;
};

/* Sets attr->type. Call it before the first term. */
void pev_pmu_begin_(struct pev_pmu_build *b);
/* Adds a term; value NULL: none given. -ENOENT: the PMU has no such term; -EINVAL: wrong value.
 * err has the reason and the alternatives. */
int pev_pmu_term_(struct pev_pmu_build *b, const char *name, const char *value,
		  struct pev_error *err);
/* -EINVAL if a parameter of an event is missing. */
int pev_pmu_end_(const struct pev_pmu_build *b, struct pev_error *err);
#endif
