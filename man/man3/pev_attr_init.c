/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

int main(void)
{
	struct perf_event_attr faults, clock, sys;
	struct pev_error err = { 0 };

	pev_attr_init(&faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	if (pev_attr_software(&clock, "task-clock", &err))
		return fail(&err);
	printf("page faults: type %u config %llu\n", faults.type,
	       (unsigned long long)faults.config);
	printf("task-clock: type %u config %llu\n", clock.type, (unsigned long long)clock.config);
	if (pev_attr_tracepoint(&sys, "syscalls", "sys_enter_getpid", &err))
		return fail(&err);
	printf("getpid: type %u\n", sys.type);
	return 0;
}
