/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/sideband.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pages of 4 KiB: some 2,000 records. A record is at most a comm and its trailer. */
enum { RING_PAGES = 16, MAX_RECORD = 256 };

struct side_ring {
	struct pev_event *owner;
	struct pev_ring *ring;
	bool pending;                  /* `rec` was read and is not due yet */
	uint64_t time;                 /* of rec */
	_Alignas(8) char rec[MAX_RECORD];
};

struct sideband {
	const struct perf_clock *clock;
	struct pev_format format;
	struct pev_event **events;
	size_t nevents;
	struct side_ring *rings;
	size_t nrings;
};

static void dummy_attr(const struct perf_clock *clock, struct perf_event_attr *attr)
{
	pev_attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr->exclude_kernel = attr->exclude_hv = 1;
	attr->sample_id_all = 1;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->watermark = 1;
	attr->wakeup_watermark = UINT32_MAX;   /* nobody sleeps on it */
	perf_clock_attr(clock, attr);
}

static int open_ring(struct sideband *b, int cpu)
{
	struct side_ring *ring = &b->rings[b->nrings++];
	struct perf_event_attr attr;
	int rc;

	dummy_attr(b->clock, &attr);
	rc = pev_event_open(&ring->owner, &attr, pev_target_thread_on_cpu(gettid(), cpu), NULL, NULL);
	return rc ? rc : pev_ring_map(&ring->ring, ring->owner, RING_PAGES, NULL);
}

static int open_event(struct sideband *b, const struct task_target *task, int cpu,
		      struct pev_event *owner, bool inherit)
{
	struct pev_event **ev = &b->events[b->nevents];
	struct perf_event_attr attr;
	int rc;

	dummy_attr(b->clock, &attr);
	attr.comm = attr.task = 1;
	attr.inherit = task->tid >= 0 && inherit;
	rc = pev_event_open(ev, &attr, targets_of(task, cpu), NULL, NULL);
	if (rc)
		return rc;
	b->nevents++;
	return pev_event_set_output(*ev, owner);
}

static int open_all_cpus(struct sideband *b, const struct targets *t, bool inherit)
{
	for (size_t c = 0; c < t->cpus.n; c++) {
		int rc = open_ring(b, t->cpus.v[c]);

		for (size_t i = 0; i < t->ntasks && !rc; i++)
			rc = open_event(b, &t->tasks[i], t->cpus.v[c], b->rings[c].owner, inherit);
		if (rc)
			return rc;
	}
	return 0;
}

struct sideband *sideband_open(const struct targets *t, const struct perf_clock *clock,
			       bool inherit)
{
	struct sideband *b = calloc(1, sizeof(*b));
	struct perf_event_attr attr;

	if (!b)
		return NULL;
	b->clock = clock;
	dummy_attr(clock, &attr);
	pev_format_from_attr(&b->format, &attr);
	b->rings = calloc(t->cpus.n, sizeof(*b->rings));
	b->events = calloc(t->cpus.n * t->ntasks, sizeof(*b->events));
	if (!b->rings || !b->events || open_all_cpus(b, t, inherit)) {
		sideband_free(b);
		return NULL;
	}
	return b;
}

void sideband_free(struct sideband *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->nevents; i++)
		pev_event_close(b->events[i]);
	for (size_t i = 0; b->rings && i < b->nrings; i++) {
		pev_ring_unmap(b->rings[i].ring);
		pev_event_close(b->rings[i].owner);
	}
	free(b->events);
	free(b->rings);
	free(b);
}

/* Reads on until a COMM or FORK record stands in `rec`; false when the ring is empty. */
static bool fill(const struct sideband *b, struct side_ring *ring)
{
	const struct perf_event_header *h;
	struct pev_record rec;

	if (ring->pending || !pev_ring_begin(ring->ring))
		return ring->pending;
	while (!ring->pending && (h = pev_ring_next(ring->ring))) {
		if (h->size > MAX_RECORD || pev_decode(h, h->size, &b->format, &rec) ||
		    (rec.type != PERF_RECORD_COMM && rec.type != PERF_RECORD_FORK))
			continue;
		memcpy(ring->rec, h, h->size);
		ring->time = rec.sample_id.time;
		ring->pending = true;
	}
	pev_ring_end(ring->ring);
	return ring->pending;
}

static struct side_ring *earliest(struct sideband *b)
{
	struct side_ring *first = NULL;

	for (size_t i = 0; i < b->nrings; i++)
		if (fill(b, &b->rings[i]) && (!first || b->rings[i].time < first->time))
			first = &b->rings[i];
	return first;
}

void sideband_take(struct sideband *b, uint64_t time, sideband_fn *fn, void *ctx)
{
	struct side_ring *ring;

	while ((ring = earliest(b)) && ring->time <= time) {
		const struct perf_event_header *h = (const struct perf_event_header *)ring->rec;
		struct pev_record rec;

		ring->pending = false;
		if (!pev_decode(h, h->size, &b->format, &rec))
			fn(&rec, ctx);
	}
}
