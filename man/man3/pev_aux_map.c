/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <perfevent.h>
#include <stdio.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

int main(int argc, char **argv)
{
	struct pev_aux_area *area;
	struct pev_aux_data data;
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_ring *ring;
	struct pev_event *ev;
	uint32_t type;
	int rc;

	if (pev_pmu_lookup_type(argc > 1 ? argv[1] : "intel_pt", &type)) {
		puts("no PMU here that traces");
		type = PERF_TYPE_SOFTWARE;
	}
	pev_attr_init(&attr, type, type == PERF_TYPE_SOFTWARE ? PERF_COUNT_SW_DUMMY : 0);
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err) ||
	    pev_ring_map(&ring, ev, 8, &err))
		return fail(&err);
	rc = pev_aux_map(&area, ring, 16, false, &err);
	if (rc == -EOPNOTSUPP) {
		puts("and a software event has no AUX area");
	} else if (rc) {
		return fail(&err);
	} else {
		uint64_t bytes = pev_aux_peek(area, &data);

		printf("%llu bytes of %zu\n", (unsigned long long)bytes, pev_aux_size(area));
		pev_aux_consume(area, bytes);
		pev_aux_unmap(area);
	}
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
