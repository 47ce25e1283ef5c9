/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/usage.h"

#include "base/now.h"
#include "base/textfile.h"
#include "stream/live/own.h"
#include "tasks/cputime.h"

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

static uint64_t helpers_ns(struct own *own)
{
	uint64_t sum = 0;

	for (unsigned int i = 1; i < own->n; i++) {
		struct cputime now = { 0 };

		if (own->all[i].until == UINT64_MAX && cputime_add(own->all[i].pid, &now))
			own->all[i].cpu_ns = now.user + now.kernel;
		sum += own->all[i].cpu_ns;
	}
	return sum;
}

void usage_tell(struct usage *u, struct own *own, uint64_t every_ms)
{
	uint64_t now, cpu;

	if (!every_ms)
		return;
	now = now_ns(CLOCK_MONOTONIC);
	if (u->told_ns && now - u->told_ns < every_ms * 1000000)
		return;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) + helpers_ns(own);
	if (u->told_ns)
		fprintf(stderr, "perf-prof: self: CPU %.1f %%, resident %.1f MiB\n",
			100.0 * (double)(cpu > u->cpu_ns ? cpu - u->cpu_ns : 0) / (double)(now - u->told_ns),
			resident_mib());
	u->told_ns = now;
	u->cpu_ns = cpu;
}
