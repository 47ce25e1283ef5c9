/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, answers perf_event_open(2) as an AMD guest with a PMU does, as far as programs see
 * which events open: hardware events count (they are CPU time then), precise_ip and branch
 * stacks are EOPNOTSUPP, some events ENOENT, some caches EINVAL. With AMD_PMU_TAKEN set, all
 * counters are somebody else's: a pinned event is in error, whose read(2) gives nothing.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf_opens.h"

enum { FDS = 4096 };
static bool lost[FDS];

static int refusal(const struct perf_event_attr *a)
{
	unsigned int cache = a->config & 0xff, op = a->config >> 8 & 0xff;

	if (a->precise_ip || a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return EOPNOTSUPP;
	if (a->type == PERF_TYPE_HARDWARE)
		return (uint32_t)a->config > PERF_COUNT_HW_STALLED_CYCLES_FRONTEND ||
		       (uint32_t)a->config == PERF_COUNT_HW_BUS_CYCLES ? ENOENT : 0;
	if (a->type != PERF_TYPE_HW_CACHE)
		return 0;
	if (cache == PERF_COUNT_HW_CACHE_NODE && op != PERF_COUNT_HW_CACHE_OP_READ)
		return EINVAL;
	return cache == PERF_COUNT_HW_CACHE_LL ? ENOENT : 0;
}

static bool is_hardware(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE ||
	       a->type == PERF_TYPE_RAW;
}

static long open_event(syscall_t next, const long *v)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)v[0];
	char copy[256] = { 0 };
	struct perf_event_attr *a = (struct perf_event_attr *)copy;
	uint32_t size = attr->size ? attr->size : sizeof(*attr);
	long fd;

	if (!is_hardware(attr) || size > sizeof(copy))
		return next(SYS_perf_event_open, attr, v[1], v[2], v[3], v[4]);
	errno = refusal(attr);
	if (errno)
		return -1;
	memcpy(copy, attr, size);
	a->type = PERF_TYPE_SOFTWARE;
	/* of a CPU, or of a task */
	a->config = v[1] < 0 || v[4] & PERF_FLAG_PID_CGROUP ? PERF_COUNT_SW_CPU_CLOCK
							    : PERF_COUNT_SW_TASK_CLOCK;
	a->config1 = a->config2 = 0;
	fd = next(SYS_perf_event_open, a, v[1], v[2], v[3], v[4]);
	if (fd >= 0 && fd < FDS)
		lost[fd] = attr->pinned && getenv("AMD_PMU_TAKEN");
	return fd;
}

ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*real)(int, void *, size_t) = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");

	return fd >= 0 && fd < FDS && lost[fd] ? 0 : real(fd, buf, size);
}

int close(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");

	if (fd >= 0 && fd < FDS)
		lost[fd] = false;
	return real(fd);
}
