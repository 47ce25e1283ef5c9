/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	struct perf_event_attr attr;
	uint64_t value;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	pev_attr_set_aux_action(&attr, PEV_AUX_PAUSE);
	if (pev_attr_get(&attr, "aux_action", &value))
		return 1;
	printf("aux_action = %" PRIu64 "\n", value);
	return 0;
}
