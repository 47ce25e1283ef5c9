/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/names.h - software, hardware, cache and raw events by name */
#ifndef PEV_NAMES_H
#define PEV_NAMES_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Software events by perf's names, aliases included ("page-faults", "faults").
 * pev_software_name() walks the table: NULL past the end. */
PEV_API int pev_software_lookup(const char *name, uint64_t *config);
PEV_API const char *pev_software_name(unsigned int index, uint64_t *config);

/* PERF_TYPE_HARDWARE by perf's names, aliases included ("cycles"). -ENOENT.
 * pev_hardware_name() walks the table, canonical names before their aliases: NULL past
 * the end. */
PEV_API int pev_hardware_lookup(const char *name, uint64_t *config);
PEV_API const char *pev_hardware_name(unsigned int index, uint64_t *config);

/* PERF_TYPE_RAW: "rNNN", up to 16 hexadecimal digits. -ENOENT if name is no such thing. */
PEV_API int pev_raw_lookup(const char *name, uint64_t *config);

/* PERF_TYPE_HW_CACHE: config of PERF_COUNT_HW_CACHE_x, _OP_x, _RESULT_x. -EINVAL if one
 * is out of its range. All 42 combinations are possible; hardware has a few. */
PEV_API int pev_cache_config(unsigned int cache, unsigned int op, unsigned int result,
			     uint64_t *config);
/* By perf's names, aliases and orders included, whatever the case ("L1-dcache-load-misses",
 * "l1d-read-miss", "LLC-loads"). -ENOENT. */
PEV_API int pev_cache_lookup(const char *name, uint64_t *config);
/* perf list's name of a config into buf. 0, or -EINVAL for a config that is none. */
PEV_API int pev_cache_name(uint64_t config, char *buf, size_t size);
/* Walks all combinations, 0 to 41: cache by cache, then op, then result. False past the
 * end. *usual: whether perf list shows it (not for writes to an instruction cache). */
PEV_API bool pev_cache_at(unsigned int index, uint64_t *config, bool *usual);

/* pmu and name: "skx", "INST_RETIRED:ANY_P"; desc may be "". They live during the call. */
typedef int pev_vendor_fn(const char *pmu, const char *name, const char *desc, void *ctx);
/* Calls fn with each event of this CPU by its vendor's name, and with each of its unit masks, as
 * libpfm4 has them and pev_attr_parse() takes them, until fn returns other than 0, which is
 * returned then. Whether the kernel opens one is not looked at. -ENOTSUP: the library was built
 * without libpfm4. */
PEV_API int pev_vendor_each(pev_vendor_fn *fn, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
