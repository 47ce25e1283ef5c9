/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/usage.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static double resident_mib(void)
{
	unsigned long size, pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%lu %lu", &size, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

void usage_tell(struct usage *u, uint64_t every_ms)
{
	uint64_t now, cpu;

	if (!every_ms)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	if (u->told_ns && now - u->told_ns < every_ms * 1000000)
		return;
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (u->told_ns)
		fprintf(stderr, "perf-prof: self: CPU %.1f %%, resident %.1f MiB\n",
			100.0 * (double)(cpu - u->cpu_ns) / (double)(now - u->told_ns),
			resident_mib());
	u->told_ns = now;
	u->cpu_ns = cpu;
}
