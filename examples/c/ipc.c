/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many instructions does the CPU finish per cycle?
 *
 *   cc -O2 ipc.c $(pkg-config --cflags --libs libperfevent) -o ipc && ./ipc
 *
 * Both counters are in one group: they count at the same time, so that one may be divided by the
 * other. Exits with 77 if there is no PMU, as in most virtual machines.
 */
#include <errno.h>
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return err->code == ENOENT || err->code == ENODEV || err->code == EOPNOTSUPP ? 77 : 1;
}

static void add_up(void *arg)
{
	uint64_t *sum = arg;

	*sum = 0;
	for (uint64_t i = 0; i < 100000; i++) {
		*sum += i;
		__asm__ volatile("" : : : "memory");   /* or the compiler computes the sum */
	}
}

static int print(uint64_t sum, const struct pev_count counts[2])
{
	struct pev_estimate seen;

	if (pev_count_estimate(&counts[0], &seen)) {
		fprintf(stderr, "the group was never on the PMU: others use its counters\n");
		return 1;
	}
	printf("got sum = %" PRIu64 " in %" PRIu64 " ns: %" PRIu64 " instructions, %" PRIu64
	       " CPU cycles: %f IPC",
	       sum, counts[0].time_running, counts[0].value, counts[1].value,
	       (double)counts[0].value / (double)counts[1].value);
	if (!seen.exact)
		printf(" (seen %.0f%% of the time)", 100 * seen.share);
	putchar('\n');
	return 0;
}

int main(void)
{
	static const uint64_t events[] = { PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES };
	struct pev_group *group = pev_group_new();
	struct pev_count counts[2];
	struct pev_error err = { 0 };
	uint64_t sum;
	int rc;

	if (!group)
		return 1;
	for (int i = 0; i < 2; i++) {
		struct perf_event_attr attr;

		pev_attr_init(&attr, PERF_TYPE_HARDWARE, events[i]);
		attr.disabled = 1;
		attr.exclude_kernel = 1;   /* no privilege needed */
		attr.exclude_hv = 1;
		if (pev_group_add(group, &attr, NULL) < 0)
			return 1;
	}
	if (pev_group_open(group, pev_target_self(), NULL, &err)) {
		pev_group_close(group);
		return fail(&err);
	}
	rc = pev_group_measure(group, add_up, &sum, counts, 2);
	pev_group_close(group);
	return rc < 0 ? 1 : print(sum, counts);
}
