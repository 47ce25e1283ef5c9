/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	uint64_t config;
	const char *name;

	for (unsigned int i = 0; (name = pev_software_name(i, &config)); i++)
		printf("software %2" PRIu64 " %s\n", config, name);
	for (unsigned int i = 0; (name = pev_hardware_name(i, &config)); i++)
		printf("hardware %2" PRIu64 " %s\n", config, name);
	if (!pev_raw_lookup("r01c0", &config))
		printf("raw %#" PRIx64 "\n", config);
	if (!pev_software_lookup("faults", &config))
		printf("faults is config %" PRIu64 "\n", config);
	if (!pev_hardware_lookup("cycles", &config))
		printf("cycles is config %" PRIu64 "\n", config);
	return 0;
}
