/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/pmu.h - what sysfs says about a PMU */
#ifndef PEV_PMU_H
#define PEV_PMU_H

#include "attr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A PMU as /sys/bus/event_source/devices/NAME describes it, read once when opened. */
struct pev_pmu;

struct pev_pmu_event {
	const char *name;       /* "tsc" */
	const char *terms;      /* "event=0x00" */
	const char *unit;       /* "Joules", or NULL */
	double scale;           /* count * scale is in units; 1 if sysfs has none */
	bool per_package;       /* one counter per package: read on one CPU of each */
	bool snapshot;          /* a level, not a count: don't subtract */
};

/* One name of format/: where the bits of a term's value go, lowest first. */
struct pev_pmu_format {
	const char *name;       /* "umask" */
	unsigned int word;      /* 0 = config, 1 = config1, ... 4 */
	uint64_t bits;          /* of that word */
};

/* -ENOENT: no such PMU; -EBADMSG: a file of it makes no sense (err says which). */
PEV_API int pev_pmu_open(struct pev_pmu **out, const char *name, struct pev_error *err);
/* NULL is fine. What was borrowed from it goes with it. */
PEV_API void pev_pmu_close(struct pev_pmu *pmu);
/* As sysfs calls it. */
PEV_API const char *pev_pmu_name(const struct pev_pmu *pmu);
/* attr.type. */
PEV_API uint32_t pev_pmu_type(const struct pev_pmu *pmu);
/* Of format/ and events/, in alphabetical order; NULL past the end. Borrowed from pmu. */
PEV_API const struct pev_pmu_format *pev_pmu_format_at(const struct pev_pmu *pmu, unsigned int i);
PEV_API const struct pev_pmu_event *pev_pmu_event_at(const struct pev_pmu *pmu, unsigned int i);
/* CPUs of `cpumask` (uncore: open on these alone) or `cpus` (a core type of a hybrid
 * machine: open on these, or on tasks). Writes at most n; returns how many there are,
 * 0 = the PMU doesn't say: all CPUs. */
PEV_API int pev_pmu_cpus(const struct pev_pmu *pmu, int *cpus, size_t n);
/* True if CPUs or tasks can be watched: the `cpu` PMU, or one with a `cpus` file. False
 * for what counts a package or the machine, and takes no task. */
PEV_API bool pev_pmu_is_core(const struct pev_pmu *pmu);
/* Makes attr from terms: event names, format terms and config=N .. config4=N, as
 * "event=0x3c,umask=1" or "tsc". -EINVAL: unknown term or value out of range, said in err. */
PEV_API int pev_pmu_attr(const struct pev_pmu *pmu, const char *terms, union pev_attr_buf *buf,
			 struct pev_error *err);
/* attr.type of a PMU by name, without reading more of it: -ENOENT, -EBADMSG. */
PEV_API int pev_pmu_lookup_type(const char *name, uint32_t *type);
/* Names of all PMUs, in alphabetical order, each terminated, one after another in a
 * malloc'ed block that ends with an empty name. -errno if reading sysfs fails. */
PEV_API int pev_pmu_list(char **names);
/* A generic hardware or cache event of one core type of a hybrid machine (extended type:
 * the PMU's type in config bits 32 and above). Linux 5.13. */
PEV_API void pev_attr_set_core_type(struct perf_event_attr *attr, uint32_t pmu_type);

#ifdef __cplusplus
}
#endif
#endif
