/* SPDX-License-Identifier: Apache-2.0 */
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

int main(void)
{
	const struct perf_event_header *raw;
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_ring *ring;
	struct pev_event *ev;
	int kept = 0;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getppid", &err))
		return fail(&err);
	pev_attr_sample_period(&attr, 1);
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.write_backward = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err) ||
	    pev_ring_map_overwrite(&ring, ev, 1, &err))
		return fail(&err);
	for (int i = 0; i < 100000; i++)
		syscall(SYS_getppid);
	pev_ring_begin(ring);           /* the newest first */
	while ((raw = pev_ring_next(ring)))
		kept += raw->type == PERF_RECORD_SAMPLE;
	pev_ring_end(ring);
	printf("%s of the 100000 are there\n", kept > 0 && kept < 1000 ? "the last few" : "others");
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
