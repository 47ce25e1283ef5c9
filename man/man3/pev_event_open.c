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
	struct pev_open_opts opts = { .size = sizeof(opts), .label = "switches" };
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	if (pev_event_open(&ev, &attr, pev_target_self(), &opts, &err))
		return fail(&err);
	printf("%s: descriptor %d, an attr of %u bytes\n", pev_event_label(ev), pev_event_fd(ev),
	       pev_event_attr(ev)->size);
	pev_event_close(ev);
	return 0;
}
