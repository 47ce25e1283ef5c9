/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often does this program give up its CPU?
 *
 *   cc -O2 context_switches.c $(pkg-config --cflags --libs libperfevent) -o context_switches
 *   ./context_switches
 *
 * A corrected version of the example in the first manual page of perf_event_open(2), from 2011.
 * That one wrote through an uninitialized attr pointer, passed the struct instead of its address
 * and the other arguments in the wrong order, requested two times in read_format but then read
 * only 8 bytes, which fails with ENOSPC, and ended before anything could be counted.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

static uint64_t account(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* Reads the counter and getrusage(2) at the same instant: repeats if a switch came in between. */
static int look(const struct pev_event *switches, struct pev_count *count, uint64_t *accounted)
{
	int rc;

	do {
		*accounted = account();
		rc = pev_event_read(switches, count);
	} while (!rc && *accounted != account());
	return rc;
}

int main(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count before, after, count;
	struct pev_event *switches;
	uint64_t then, now;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (pev_event_open(&switches, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	if (look(switches, &before, &then))
		return 1;
	for (int i = 0; i < 10; i++)
		nanosleep(&nap, NULL);
	if (look(switches, &after, &now))
		return 1;
	count = pev_count_delta(&before, &after);
	printf("Current count: %" PRIu64 " context switches!\n", count.value);
	printf("The scheduler's own account: %" PRIu64 "\n", now - then);
	pev_event_close(switches);
	return 0;
}
