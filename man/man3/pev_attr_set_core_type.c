/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	static const char *const cores[] = { "cpu_core", "cpu_atom", "cpu" };
	struct perf_event_attr attr;
	uint32_t type;

	for (int i = 0; i < 3; i++) {
		if (pev_pmu_lookup_type(cores[i], &type))
			continue;
		pev_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
		pev_attr_set_core_type(&attr, type);
		printf("cycles of %s: config %#llx\n", cores[i], (unsigned long long)attr.config);
		return 0;
	}
	puts("no PMU of a CPU here");
	return 0;
}
