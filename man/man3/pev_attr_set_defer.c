/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	struct perf_event_attr attr;
	uint64_t callchain, output;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	pev_attr_set_defer(&attr, true, true);
	if (pev_attr_get(&attr, "defer_callchain", &callchain) ||
	    pev_attr_get(&attr, "defer_output", &output))
		return 1;
	printf("defer_callchain = %" PRIu64 ", defer_output = %" PRIu64 "\n", callchain, output);
	return 0;
}
