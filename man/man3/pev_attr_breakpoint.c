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

static volatile int watched;

static void work(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++)
		watched = i;
}

int main(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *ev;

	if (pev_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uint64_t)&watched, sizeof(watched), &err))
		return fail(&err);
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	if (!pev_event_measure(ev, work, NULL, &count))
		printf("written %llu times\n", (unsigned long long)count.value);
	pev_event_close(ev);
	return 0;
}
