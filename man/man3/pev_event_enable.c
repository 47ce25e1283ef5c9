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

int main(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count = { 0 };
	struct pev_event *ev;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getppid", &err))
		return fail(&err);
	attr.disabled = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	syscall(SYS_getppid);           /* not counted */
	pev_event_enable(ev);
	syscall(SYS_getppid);
	pev_event_reset(ev);            /* forgotten */
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	pev_event_disable(ev);
	syscall(SYS_getppid);           /* not counted */
	pev_event_read(ev, &count);
	printf("counted %llu\n", (unsigned long long)count.value);
	pev_event_close(ev);
	return 0;
}
