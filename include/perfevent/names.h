/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/names.h - software, hardware, cache and raw events by name */
#ifndef PEV_NAMES_H
#define PEV_NAMES_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Software events by perf's names, including aliases ("page-faults", "faults"). -ENOENT.
 * pev_software_name() walks the table: NULL past the end. */
PEV_API int pev_software_lookup(const char *name, uint64_t *config);
PEV_API const char *pev_software_name(unsigned int index, uint64_t *config);

/* PERF_TYPE_HARDWARE by perf's names, including aliases ("cycles"). -ENOENT. pev_hardware_name()
 * walks the table, canonical names before their aliases: NULL past the end. */
PEV_API int pev_hardware_lookup(const char *name, uint64_t *config);
PEV_API const char *pev_hardware_name(unsigned int index, uint64_t *config);

/* PERF_TYPE_RAW: "rNNN", up to 16 hexadecimal digits. -ENOENT for other names. */
PEV_API int pev_raw_lookup(const char *name, uint64_t *config);

/* PERF_TYPE_HW_CACHE: config from PERF_COUNT_HW_CACHE_x, _OP_x, _RESULT_x. -EINVAL if one is out
 * of range. There are 42 combinations; hardware supports a few. */
PEV_API int pev_cache_config(unsigned int cache, unsigned int op, unsigned int result,
			     uint64_t *config);
/* By perf's names, in any case, including aliases and other orders of the parts
 * ("L1-dcache-load-misses", "l1d-read-miss", "LLC-loads"). -ENOENT. */
PEV_API int pev_cache_lookup(const char *name, uint64_t *config);
/* The name that perf list uses for a config. 0, or -EINVAL if config is not a cache event. */
PEV_API int pev_cache_name(uint64_t config, char *buf, size_t size);
/* Walks all combinations, 0 to 41: cache by cache, then op, then result. False past the end.
 * *usual: whether perf list shows it (not for writes to an instruction cache). */
PEV_API bool pev_cache_at(unsigned int index, uint64_t *config, bool *usual);

/* pmu and name: "skx", "INST_RETIRED:ANY_P"; desc may be "". Valid during the call. */
typedef int pev_vendor_fn(const char *pmu, const char *name, const char *desc, void *ctx);
/* Calls fn with the vendor's names of each event of this CPU and of each of its unit masks, as in
 * libpfm4 and accepted by pev_attr_parse(). Stops when fn returns other than 0, and returns that.
 * Does not check whether the kernel can open them. -ENOTSUP: the library was built without libpfm4, or
 * libpfm.so.4 is not installed. */
PEV_API int pev_vendor_each(pev_vendor_fn *fn, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
