/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: before the Nth perf_event_open(2) on a process ($ENDING_TARGET: "PID N"), or with N = 0 when the list of
 * its threads is open, it ends that process, and waits until it is gone. Its parent collects it. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perf_opens.h"

enum { DEADLINE = 10 };   /* s */

static pid_t target;
static int at;

__attribute__((constructor)) static void begin(void)
{
	if (sscanf(getenv("ENDING_TARGET"), "%d %d", &target, &at) != 2)
		abort();
}

static void end_it(void)
{
	time_t begun = time(NULL);

	kill(target, SIGKILL);
	while (!kill(target, 0) || errno != ESRCH) {
		if (time(NULL) - begun > DEADLINE)
			abort();
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

/* glibc's has attributes of its own */
__attribute__((visibility("default"))) DIR *opendir(const char *path);

DIR *opendir(const char *path)
{
	DIR *(*next)(const char *) = (DIR *(*)(const char *))dlsym(RTLD_NEXT, "opendir");
	DIR *dir = next(path);
	char threads[64];

	snprintf(threads, sizeof(threads), "/proc/%d/task", (int)target);
	if (!at && !strcmp(path, threads))
		end_it();
	return dir;
}

static long open_event(syscall_t next, const long *a)
{
	static int openings;

	if (a[1] == target && ++openings == at)
		end_it();
	return next(SYS_perf_event_open, a[0], a[1], a[2], a[3], a[4]);
}
