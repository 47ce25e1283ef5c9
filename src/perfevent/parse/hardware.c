/* SPDX-License-Identifier: Apache-2.0 */
/* Generic hardware events by perf's names. */
#include "perfevent.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Canonical names before their aliases. */
static const struct {
	const char *name;
	uint64_t config;
} hardware[] = {
	{ "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES },
	{ "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES },
};
enum { NHARDWARE = sizeof(hardware) / sizeof(*hardware) };

int pev_hardware_lookup(const char *name, uint64_t *config)
{
	for (size_t i = 0; i < NHARDWARE; i++) {
		if (strcmp(hardware[i].name, name))
			continue;
		*config = hardware[i].config;
		return 0;
	}
	return -ENOENT;
}

const char *pev_hardware_name(unsigned int index, uint64_t *config)
{
	if (index >= NHARDWARE)
		return NULL;
	if (config)
		*config = hardware[index].config;
	return hardware[index].name;
}

int pev_raw_lookup(const char *name, uint64_t *config)
{
	char *end;

	if (name[0] != 'r' || !isxdigit((unsigned char)name[1]))
		return -ENOENT;
	errno = 0;
	*config = strtoull(name + 1, &end, 16);
	return *end || errno ? -ENOENT : 0;
}

void pev_attr_set_core_type(struct perf_event_attr *attr, uint32_t pmu_type)
{
	attr->config = (attr->config & 0xffffffffull) | (uint64_t)pmu_type << 32;
}
