// SPDX-License-Identifier: Apache-2.0
/*
 * Preloaded by `tests/run --hide-pmu` (frame/hide_pmu.py): perf_event_open(2) as on a machine without
 * hardware counters. The type of such an event is replaced by one that no kernel has, so that the kernel
 * itself answers, with whatever it finds wrong before. A type above those of the ABI is a PMU's number: it is let
 * through if the sysfs that we see, which frame/hide_pmu.py made, has that PMU.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf_opens.h"

#define DEVICES "/sys/bus/event_source/devices"
#define NO_SUCH_TYPE 0x7fffffffU
#define PAGE 4096U

static int type_of(const char *pmu, unsigned int *type)
{
	char path[512];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), DEVICES "/%s/type", pmu);
	f = fopen(path, "re");
	if (f) {
		n = fscanf(f, "%u", type);
		fclose(f);
	}
	return n == 1;
}

static int is_visible(unsigned int wanted)
{
	DIR *dir = opendir(DEVICES);
	struct dirent *entry;
	unsigned int type;
	int found = 0;

	while (dir && !found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.' && type_of(entry->d_name, &type) && type == wanted;
	if (dir)
		closedir(dir);
	return found;
}

static int is_hidden(unsigned int type)
{
	switch (type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return 0;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return 1;
	default:
		return !is_visible(type);
	}
}

/* Of an attr that can't be read the kernel has to say so. */
static int is_readable(const void *bytes, size_t size)
{
	int fds[2], good;

	if (pipe(fds))
		return 0;
	good = write(fds[1], bytes, size) == (ssize_t)size;
	close(fds[0]);
	close(fds[1]);
	return good;
}

static long open_event(syscall_t next, const long *a)
{
	struct perf_event_attr *attr = (struct perf_event_attr *)a[0];
	char copy[PAGE] = { 0 };
	unsigned int size;
	long rc;

	if (!is_readable(attr, PERF_ATTR_SIZE_VER0))
		return next(SYS_perf_event_open, a[0], a[1], a[2], a[3], a[4]);
	size = attr->size ? attr->size : PERF_ATTR_SIZE_VER0;
	if (!is_hidden(attr->type) || size > sizeof(copy) || !is_readable(attr, size))
		return next(SYS_perf_event_open, a[0], a[1], a[2], a[3], a[4]);
	memcpy(copy, attr, size);
	((struct perf_event_attr *)copy)->type = NO_SUCH_TYPE;
	rc = next(SYS_perf_event_open, copy, a[1], a[2], a[3], a[4]);
	attr->size = ((struct perf_event_attr *)copy)->size;   /* with E2BIG the kernel's own */
	return rc;
}
