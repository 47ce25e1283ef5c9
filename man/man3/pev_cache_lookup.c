/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	unsigned int n = 0;
	uint64_t config;
	char name[64];
	bool usual;

	if (pev_cache_lookup("L1-dcache-load-misses", &config))
		return 1;
	printf("L1-dcache-load-misses is %#" PRIx64 "\n", config);
	if (pev_cache_config(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_OP_WRITE,
			     PERF_COUNT_HW_CACHE_RESULT_ACCESS, &config) ||
	    pev_cache_name(config, name, sizeof(name)))
		return 1;
	printf("%#" PRIx64 " is %s\n", config, name);
	while (pev_cache_at(n, &config, &usual))
		n++;
	printf("%u in all\n", n);
	return 0;
}
