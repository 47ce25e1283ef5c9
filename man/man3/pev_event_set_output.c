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

static int open_one(struct pev_event **ev, const char *name, struct pev_error *err)
{
	struct perf_event_attr attr;
	int rc = pev_attr_tracepoint(&attr, "syscalls", name, err);

	if (rc)
		return rc;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.sample_id_all = 1;
	pev_attr_sample_period(&attr, 1);
	return pev_event_open(ev, &attr, pev_target_self(), NULL, err);
}

int main(void)
{
	struct pev_event *getppid_event, *getuid_event;
	const struct perf_event_header *raw;
	struct pev_error err = { 0 };
	struct pev_format format;
	struct pev_record record;
	struct pev_ring *ring;
	uint64_t id;

	if (open_one(&getppid_event, "sys_enter_getppid", &err) ||
	    open_one(&getuid_event, "sys_enter_getuid", &err) ||
	    pev_ring_map(&ring, getppid_event, 8, &err))
		return fail(&err);
	if (pev_event_set_output(getuid_event, getppid_event) || pev_event_id(getuid_event, &id))
		return 1;
	syscall(SYS_getppid);
	syscall(SYS_getuid);

	pev_format_from_attr(&format, pev_event_attr(getppid_event));
	pev_ring_begin(ring);
	while ((raw = pev_ring_next(ring)))
		if (!pev_decode(raw, raw->size, &format, &record) &&
		    record.type == PERF_RECORD_SAMPLE)
			puts(record.sample.identifier == id ? "getuid" : "getppid");
	pev_ring_end(ring);
	pev_event_close(getuid_event);
	pev_ring_unmap(ring);
	pev_event_close(getppid_event);
	return 0;
}
