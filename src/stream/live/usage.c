/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/usage.h"

#include "base/now.h"
#include "base/textfile.h"

#include <stdio.h>
#include <unistd.h>

static double resident_mib(void)
{
	unsigned long pages;
	char text[128];

	textfile_read("/proc/self/statm", text, sizeof(text));
	if (sscanf(text, "%*u %lu", &pages) != 1)
		pages = 0;
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

void usage_tell(struct usage *u, uint64_t every_ms)
{
	uint64_t now, cpu;

	if (!every_ms)
		return;
	now = now_ns(CLOCK_MONOTONIC);
	if (u->told_ns && now - u->told_ns < every_ms * 1000000)
		return;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (u->told_ns)
		fprintf(stderr, "perf-prof: self: CPU %.1f %%, resident %.1f MiB\n",
			100.0 * (double)(cpu - u->cpu_ns) / (double)(now - u->told_ns),
			resident_mib());
	u->told_ns = now;
	u->cpu_ns = cpu;
}
