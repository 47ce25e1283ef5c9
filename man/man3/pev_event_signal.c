/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <perfevent.h>
#include <signal.h>
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

static volatile sig_atomic_t signals;

static void handler(int signo)
{
	(void)signo;
	signals++;
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler };
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_ring *ring;
	struct pev_event *ev;

	sigaction(SIGUSR1, &action, NULL);
	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getppid", &err))
		return fail(&err);
	pev_attr_sample_period(&attr, 1);
	pev_attr_wakeup_events(&attr, 1);
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err) ||
	    pev_ring_map(&ring, ev, 1, &err))
		return fail(&err);
	if (pev_event_signal(ev, SIGUSR1, PEV_OWNER_THREAD, gettid()))
		return 1;
	for (int i = 0; i < 5; i++)
		syscall(SYS_getppid);
	printf("%d signals\n", (int)signals);
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
