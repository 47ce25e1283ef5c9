/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <unistd.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

static int try(const char *what, struct pev_target target)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	if (pev_event_open(&ev, &attr, target, NULL, &err))
		return fail(&err);
	printf("can watch %s\n", what);
	pev_event_close(ev);
	return 0;
}

int main(void)
{
	int failed = try("this thread", pev_target_self());

	failed |= try("this thread on CPU 0", pev_target_thread_on_cpu(0, 0));
	failed |= try("the parent", pev_target_thread(getppid()));
	failed |= try("all of CPU 0", pev_target_cpu(0));
	return failed;
}
