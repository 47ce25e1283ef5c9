/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/hw_breakpoint.h>
#include <perfevent.h>
#include <stdio.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

static volatile int first, second;

int main(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *ev;

	if (pev_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uint64_t)&first, sizeof(first), &err))
		return fail(&err);
	attr.exclude_kernel = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	first = 1;
	second = 1;
	attr.bp_addr = (uint64_t)&second;
	if (pev_event_modify(ev, &attr, &err))
		return fail(&err);
	first = 2;
	second = 2;
	second = 3;
	pev_event_read(ev, &count);
	printf("%llu writes seen\n", (unsigned long long)count.value);
	pev_event_close(ev);
	return 0;
}
