/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

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
	struct pev_ring *ring;
	struct pev_event *ev;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.comm = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	if (pev_ring_map(&ring, ev, 4, &err))
		return fail(&err);
	printf("%zu bytes; %s\n", pev_ring_size(ring),
	       pev_ring_fd(ring) == pev_event_fd(ev) ? "poll the event" : "poll another");
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
