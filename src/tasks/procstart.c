/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/procstart.h"

#include "base/textfile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

/* "PID (NAME) STATE ...": the start time is the 20th word after the name, in clock ticks. */
int64_t procstart_parse(const char *stat)
{
	const char *p = strrchr(stat, ')');
	long ticks = sysconf(_SC_CLK_TCK);
	unsigned long long start;
	char *end;

	for (int i = 0; p && i < 20; i++)
		p = strchr(p + 1, ' ');
	if (!p || ticks <= 0)
		return -1;
	start = strtoull(p + 1, &end, 10);
	if (end == p + 1 || start / (unsigned long)ticks > INT32_MAX)
		return -1;
	return (int64_t)(start * (unsigned long long)(SECOND / ticks));
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * SECOND + t->tv_nsec;
}

bool procstart_before(const struct opener *o, pid_t pid, const struct timespec *when)
{
	struct timespec boot, now;
	char stat[2048];
	int64_t start;

	if (textfile_from(opener_proc(o, pid, "stat"), stat, sizeof(stat)) <= 0)
		return false;
	start = procstart_parse(stat);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &now);
	return start >= 0 && ns_of(&now) - ns_of(&boot) + start < ns_of(when);
}
