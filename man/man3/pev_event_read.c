/* SPDX-License-Identifier: Apache-2.0 */
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
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *ev;
	uint64_t id;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			   PERF_FORMAT_ID;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	for (volatile int i = 0; i < 1000000; i++)
		;
	if (pev_event_read(ev, &count) || pev_event_id(ev, &id))
		return 1;
	printf("%llu ns, running %s, its id is %s\n", (unsigned long long)count.value,
	       count.time_running == count.time_enabled ? "all the time" : "at times",
	       count.id == id ? "the same" : "another");
	pev_event_close(ev);
	return 0;
}
