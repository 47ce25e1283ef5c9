/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/pmu.h - PMUs as described by sysfs */
#ifndef PEV_PMU_H
#define PEV_PMU_H

#include "attr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A PMU as described in /sys/bus/event_source/devices/NAME, read once when it is opened. */
struct pev_pmu;

struct pev_pmu_event {
	const char *name;       /* "tsc" */
	const char *terms;      /* "event=0x00" */
	const char *unit;       /* "Joules", or NULL */
	double scale;           /* count * scale is in units; 1 by default */
	bool per_package;       /* one counter per package: read on one CPU of each */
	bool snapshot;          /* a level, not a count: do not subtract */
};

/* A file in format/: which bits of which word get the value of a term, lowest bit first. */
struct pev_pmu_format {
	const char *name;       /* "umask" */
	unsigned int word;      /* 0 = config, 1 = config1, ... 4 */
	uint64_t bits;          /* in that word */
};

/* -ENOENT: no such PMU; -EBADMSG: a malformed file (named in err). */
PEV_API int pev_pmu_open(struct pev_pmu **out, const char *name, struct pev_error *err);
/* pmu may be NULL. Frees everything borrowed from it. */
PEV_API void pev_pmu_close(struct pev_pmu *pmu);
/* The name in sysfs. */
PEV_API const char *pev_pmu_name(const struct pev_pmu *pmu);
/* attr.type. */
PEV_API uint32_t pev_pmu_type(const struct pev_pmu *pmu);
/* The entries of format/ and events/ in alphabetical order; NULL past the end. Borrowed from pmu. */
PEV_API const struct pev_pmu_format *pev_pmu_format_at(const struct pev_pmu *pmu, unsigned int i);
PEV_API const struct pev_pmu_event *pev_pmu_event_at(const struct pev_pmu *pmu, unsigned int i);
/* CPUs in `cpumask` (uncore: open events on these only) or in `cpus` (a core type of a hybrid
 * machine: open events on these, or on tasks). Stores at most n; returns their number. 0: the PMU
 * has neither file; all CPUs. */
PEV_API int pev_pmu_cpus(const struct pev_pmu *pmu, int *cpus, size_t n);
/* True if the PMU can count on any of its CPUs and for tasks: the `cpu` PMU, or one with a `cpus`
 * file. False if it counts for a package or the machine, and not for tasks. */
PEV_API bool pev_pmu_is_core(const struct pev_pmu *pmu);
/* Makes attr from event names, format terms and config=N .. config4=N, as "event=0x3c,umask=1" or
 * "tsc". -EINVAL: unknown term or value out of range, reported in err. */
PEV_API int pev_pmu_attr(const struct pev_pmu *pmu, const char *terms, union pev_attr_buf *buf,
			 struct pev_error *err);
/* attr.type of a PMU, without reading the rest of it: -ENOENT, -EBADMSG. */
PEV_API int pev_pmu_lookup_type(const char *name, uint32_t *type);
/* Names of all PMUs in alphabetical order: terminated strings in one malloc'ed block, the last
 * one empty. -errno if reading sysfs fails. */
PEV_API int pev_pmu_list(char **names);
/* Makes a generic hardware or cache event one of a core type of a hybrid machine (extended type:
 * the PMU's type in the upper 32 bits of config). Linux 5.13. */
PEV_API void pev_attr_set_core_type(struct perf_event_attr *attr, uint32_t pmu_type);

#ifdef __cplusplus
}
#endif
#endif
