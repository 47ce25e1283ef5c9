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
	const struct perf_event_header *raw;
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_format format;
	struct pev_record record;
	struct pev_count count;
	struct pev_ring *ring;
	struct pev_event *ev;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getppid", &err))
		return fail(&err);
	pev_attr_sample_period(&attr, 2);
	attr.sample_type = PERF_SAMPLE_READ;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err) ||
	    pev_ring_map(&ring, ev, 1, &err))
		return fail(&err);
	for (int i = 0; i < 6; i++)
		syscall(SYS_getppid);
	pev_format_from_attr(&format, &attr);
	pev_ring_begin(ring);
	while ((raw = pev_ring_next(ring))) {
		if (pev_decode(raw, raw->size, &format, &record) || raw->type != PERF_RECORD_SAMPLE)
			continue;
		pev_read_value(&record.sample.read, 0, &count);
		printf("at %llu\n", (unsigned long long)count.value);
	}
	pev_ring_end(ring);
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
