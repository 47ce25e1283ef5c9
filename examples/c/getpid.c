/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often is getpid(2) called? Three times.
 *
 *   cc -O2 getpid.c $(pkg-config --cflags --libs libperfevent) -o getpid && sudo ./getpid
 *
 * Tracepoints are numbered in tracefs, which only root can read on most systems.
 */
#include <inttypes.h>
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

/* Uses syscall(2), since a libc may cache the result of getpid(). */
static void three_times(void *arg)
{
	(void)arg;
	syscall(SYS_getpid);
	syscall(SYS_getpid);
	syscall(SYS_getpid);
}

int main(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *calls;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getpid", &err))
		return fail(&err);
	attr.disabled = 1;
	if (pev_event_open(&calls, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	syscall(SYS_getpid);            /* not included in the measurement */
	if (pev_event_measure(calls, three_times, NULL, &count))
		return 1;
	printf("saw getpid %" PRIu64 " times\n", count.value);
	pev_event_close(calls);
	return 0;
}
