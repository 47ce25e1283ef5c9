/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	struct pev_count count = { .value = 1000, .time_enabled = 4000, .time_running = 1000 };
	struct pev_estimate estimate;

	if (pev_count_estimate(&count, &estimate))
		return 1;
	printf("about %.0f, seen %.0f%% of the time, %s\n", estimate.value, 100 * estimate.share,
	       estimate.exact ? "exact" : "estimated");
	return 0;
}
