/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

static void work(void *arg)
{
	(void)arg;
	for (int fd = 1000; fd < 1010; fd++)
		syscall(SYS_close, fd);
}

int main(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *ev;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_close", &err))
		return fail(&err);
	attr.disabled = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	if (pev_event_set_filter(ev, "fd >= 1003 && fd != 1005", &err))
		return fail(&err);
	if (!pev_event_measure(ev, work, NULL, &count))
		printf("%llu of 10\n", (unsigned long long)count.value);
	pev_event_close(ev);
	return 0;
}
