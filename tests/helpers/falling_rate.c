/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: before the Nth perf_event_open(2) of a frequency ($FALLING_RATE: "N LIMIT") it lowers the
 * kernel's limit, as the kernel itself does when interrupts take long. Whoever preloads it puts it back. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf_opens.h"

static void put(const char *sysctl, unsigned int value)
{
	FILE *f = fopen(sysctl, "w");

	if (!f || fprintf(f, "%u\n", value) < 0 || fclose(f))
		abort();
}

static void fall(void)
{
	static unsigned int openings;
	unsigned int at, limit;

	if (sscanf(getenv("FALLING_RATE"), "%u %u", &at, &limit) != 2 || ++openings != at)
		return;
	put("/proc/sys/kernel/perf_cpu_time_max_percent", 25);   /* with 0 the other can't be changed */
	put("/proc/sys/kernel/perf_event_max_sample_rate", limit);
}

static long open_event(syscall_t next, const long *a)
{
	if (((const struct perf_event_attr *)a[0])->freq)
		fall();
	return next(SYS_perf_event_open, a[0], a[1], a[2], a[3], a[4]);
}
