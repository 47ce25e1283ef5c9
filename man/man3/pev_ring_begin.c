/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <sys/prctl.h>

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
	struct pev_record record;
	struct pev_ring *ring;
	struct pev_event *ev;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.comm = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err) ||
	    pev_ring_map(&ring, ev, 1, &err))
		return fail(&err);
	prctl(PR_SET_NAME, "one");
	prctl(PR_SET_NAME, "two");

	pev_ring_begin(ring);
	while ((raw = pev_ring_next(ring)))
		if (!pev_ring_decode(ring, raw, &record) &&
		    record.type == PERF_RECORD_COMM)
			printf("now called %s\n", record.comm.comm);
	pev_ring_end(ring);
	printf("%s left, %llu damaged\n", pev_ring_has_record(ring) ? "some" : "none",
	       (unsigned long long)pev_ring_damaged(ring));
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
