/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	pev_attr_sample_period(&attr, 1000000);
	pev_attr_wakeup_events(&attr, 1);
	printf("every %llu ns, a wake-up per sample\n", (unsigned long long)attr.sample_period);
	pev_attr_sample_freq(&attr, 997);
	pev_attr_wakeup_watermark(&attr, 16384);
	printf("%llu times a second, a wake-up per %u bytes\n",
	       (unsigned long long)attr.sample_freq, attr.wakeup_watermark);
	return 0;
}
