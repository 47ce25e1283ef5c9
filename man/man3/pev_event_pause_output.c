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
	int samples = 0;
	const struct perf_event_header *raw;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getppid", &err))
		return fail(&err);
	pev_attr_sample_period(&attr, 1);
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err) ||
	    pev_ring_map(&ring, ev, 1, &err))
		return fail(&err);
	syscall(SYS_getppid);
	if (pev_event_pause_output(ev, true))
		return 1;
	syscall(SYS_getppid);
	if (pev_event_pause_output(ev, false))
		return 1;
	syscall(SYS_getppid);
	pev_event_read(ev, &count);
	pev_ring_begin(ring);
	while ((raw = pev_ring_next(ring)))
		samples += raw->type == PERF_RECORD_SAMPLE;
	pev_ring_end(ring);
	printf("%llu counted, %d recorded\n", (unsigned long long)count.value, samples);
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
