/* SPDX-License-Identifier: Apache-2.0 */
/* A PMU's description, and making an attr of its terms. */
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

/* The public functions with another folder than sysfs's, for tests. */
int pev_pmu_open_at_(struct pev_pmu **out, const char *root, const char *name,
		     struct pev_error *err);
int pev_pmu_list_at_(const char *root, char **names);
int pev_pmu_lookup_type_at_(const char *root, const char *name, uint32_t *type);

/* "config1:0-7,32-35" into word and bits. 0 or -EBADMSG. */
int pev_pmu_parse_format_(const char *text, unsigned int *word, uint64_t *bits);
/* "0-3,7" into a malloc'ed list. 0, -EBADMSG, -ENOMEM. */
int pev_pmu_parse_cpus_(const char *text, int **cpus, size_t *n);

/* An attr while terms are put into it. Zero it but for pmu and buf. */
struct pev_pmu_build {
	const struct pev_pmu *pmu;
	union pev_attr_buf *buf;
	const struct pev_pmu_event *event;          /* the event named last, or NULL */
	const struct pev_pmu_format *missing[8];    /* "?" in an event, not given yet */
	size_t nmissing;
};

/* attr->type. Before the first term. */
void pev_pmu_begin_(struct pev_pmu_build *b);
/* One term; value NULL: none was given. -ENOENT: the PMU has no such term; -EINVAL: the value
 * is wrong. err says what and what to write instead. */
int pev_pmu_term_(struct pev_pmu_build *b, const char *name, const char *value,
		  struct pev_error *err);
/* -EINVAL if an event's parameter was never given. */
int pev_pmu_end_(const struct pev_pmu_build *b, struct pev_error *err);
#endif
