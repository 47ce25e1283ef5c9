/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	uint32_t type;
	char *names;

	if (pev_pmu_list(&names))
		return 1;
	for (const char *name = names; *name; name += strlen(name) + 1)
		if (!pev_pmu_lookup_type(name, &type))
			printf("%3u %s\n", type, name);
	free(names);
	return 0;
}
