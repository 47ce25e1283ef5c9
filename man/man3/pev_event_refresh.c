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
	struct pev_count count;
	struct pev_ring *ring;
	struct pev_event *ev;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getppid", &err))
		return fail(&err);
	pev_attr_sample_period(&attr, 1);
	attr.disabled = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err) ||
	    pev_ring_map(&ring, ev, 1, &err))
		return fail(&err);
	if (pev_event_refresh(ev, 3))           /* on, for three overflows */
		return 1;
	for (int i = 0; i < 10; i++)
		syscall(SYS_getppid);
	pev_event_read(ev, &count);
	printf("it went off after %llu\n", (unsigned long long)count.value);
	if (!pev_event_set_period(ev, 100))
		puts("from now on every hundredth");
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
