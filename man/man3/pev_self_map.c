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
	struct pev_self *self;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	if (pev_self_map(&self, ev))
		return 1;
	if (!pev_self_read(self, &count))
		printf("%s, read %s\n", count.value ? "counting" : "nothing yet", pev_self_why(self));
	pev_self_unmap(self);
	pev_event_close(ev);
	return 0;
}
