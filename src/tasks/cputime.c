/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/cputime.h"

#include "base/textfile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "PID (NAME) STATE ...": minflt, cminflt, majflt, cmajflt, and utime, stime, cutime and cstime in clock ticks are the 8th to 15th
 * word after the name. */
bool cputime_parse(const char *stat, struct cputime *t)
{
	const char *p = strrchr(stat, ')');
	const long ticks = sysconf(_SC_CLK_TCK);
	unsigned long long user, kernel, minor, waited_minor, major, waited_major;
	long long waited_user, waited_kernel;

	if (!p || ticks <= 0 || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %llu %llu %llu %llu %llu %lld %lld", &minor,
				       &waited_minor, &major, &waited_major, &user, &kernel, &waited_user, &waited_kernel) != 8)
		return false;
	t->faults = minor + waited_minor + major + waited_major;
	t->user = (user + (unsigned long long)waited_user) * (1000000000ull / (unsigned long)ticks);
	t->kernel = (kernel + (unsigned long long)waited_kernel) * (1000000000ull / (unsigned long)ticks);
	return true;
}

bool cputime_add(pid_t pid, struct cputime *t)
{
	char path[64], stat[2048];
	struct cputime one;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (textfile_read(path, stat, sizeof(stat)) <= 0 || !cputime_parse(stat, &one))
		return false;
	t->user += one.user;
	t->kernel += one.kernel;
	t->faults += one.faults;
	return true;
}
