/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overwrite rings: the newest records, backwards in time; several events in one ring; the
 * AUX area where there is none.
 * Requires: perf_event_open(2) with write_backward (Linux 4.7), a readable tracefs.
 */
#include "ringed.h"

enum { PAGES = 1, RING = 4096, RECORD = 24 };

static void flight(int cpu)
{
	struct perf_event_attr attr;

	getppid_attr(&attr);
	attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_TID;
	attr.write_backward = 1;
	pev_attr_sample_period(&attr, 1);
	ev = open_on(&attr, cpu < 0 ? pev_target_self() : pev_target_cpu(cpu));
	skip_if_refused(pev_ring_map_overwrite(&ring, ev, PAGES, &err), &err);
}

/* Walks one drain: each record is older than the one before. Returns their number. */
static unsigned int walk(uint64_t *newest)
{
	const struct perf_event_header *rec;
	uint64_t last = UINT64_MAX;
	struct pev_record out;
	struct pev_format fmt;
	unsigned int n = 0;

	pev_format_from_attr(&fmt, pev_event_attr(ev));
	pev_ring_begin(ring);
	while ((rec = pev_ring_next(ring))) {
		assert_int_equal(pev_decode(rec, rec->size, &fmt, &out), 0);
		assert_int_equal(out.type, PERF_RECORD_SAMPLE);
		assert_true(out.sample.time <= last);
		assert_int_equal(out.sample.tid, gettid());
		if (!n++)
			*newest = out.sample.time;
		last = out.sample.time;
		pev_ring_release(ring);   /* means nothing here */
	}
	pev_ring_end(ring);
	assert_int_equal(pev_ring_damaged(ring), 0);
	return n;
}

RING_TEST(the_newest_first)
{
	uint64_t first = 0, second = 0;

	flight(-1);
	assert_int_equal(walk(&first), 0);
	assert_int_equal(pev_event_enable(ev), 0);
	call_getppid(10);
	assert_int_equal(walk(&first), 10);
	/* what is there is seen again, until it is overwritten */
	assert_int_equal(walk(&second), 10);
	assert_int_equal(first, second);
	call_getppid(100000);
	assert_int_equal(walk(&second), RING / RECORD);
	assert_true(second > first);
	call_getppid(1);
	assert_int_equal(walk(&first), RING / RECORD);
	assert_true(first > second);
}

RING_TEST(nothing_is_written_between_begin_and_end)
{
	unsigned int n = 0;

	flight(-1);
	assert_int_equal(pev_event_enable(ev), 0);
	call_getppid(5);
	assert_int_equal(pev_ring_begin(ring), 5 * RECORD);
	call_getppid(50);
	while (pev_ring_next(ring))
		n++;
	assert_int_equal(n, 5);
	pev_ring_end(ring);
	call_getppid(3);
	/* what happened between is told with the next record, the third from the end */
	assert_int_equal(pev_ring_begin(ring), 9 * RECORD);
	for (n = 0; n < 9; n++)
		assert_int_equal(pev_ring_next(ring)->type,
				 n == 2 ? PERF_RECORD_LOST : PERF_RECORD_SAMPLE);
	pev_ring_end(ring);
}

struct busy {
	volatile bool stop;
	int cpu;
};

static void *stay_busy(void *arg)
{
	struct busy *b = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(b->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!b->stop)
		syscall(SYS_getppid);
	return NULL;
}

/* A writer that never rests on another CPU: every record of every drain is whole. */
RING_TEST(drains_beside_a_writer)
{
	struct busy b = { .cpu = 0 };
	struct pev_record out;
	struct pev_format fmt;
	pthread_t thread;
	cpu_set_t set;
	int here;

	sched_getaffinity(0, sizeof(set), &set);
	if (CPU_COUNT(&set) < 2)
		SKIP("needs two CPUs");
	here = pin();
	while (b.cpu == here || !CPU_ISSET(b.cpu, &set))
		b.cpu++;
	flight(b.cpu);
	pev_format_from_attr(&fmt, pev_event_attr(ev));
	assert_int_equal(pev_event_enable(ev), 0);
	assert_int_equal(pthread_create(&thread, NULL, stay_busy, &b), 0);
	for (int i = 0; i < 30; i++) {
		const struct perf_event_header *rec;
		uint64_t last = UINT64_MAX;

		pev_ring_begin(ring);
		while ((rec = pev_ring_next(ring))) {
			assert_int_equal(rec->size, RECORD);
			assert_int_equal(pev_decode(rec, rec->size, &fmt, &out), 0);
			if (out.type == PERF_RECORD_LOST)   /* the last pause */
				continue;
			assert_int_equal(out.type, PERF_RECORD_SAMPLE);
			assert_true(out.sample.time <= last);
			last = out.sample.time;
		}
		pev_ring_end(ring);
	}
	b.stop = true;
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof(set), &set);
}

RING_TEST(what_a_plain_software_event_has_not)
{
	struct pev_aux_area *aux;

	ev = open_getppid();
	assert_int_equal(pev_ring_map_overwrite(&ring, ev, PAGES, &err), -EINVAL);
	assert_null(ring);
	SAYS(err.remedy, "write_backward");
	map(8);
	assert_int_equal(pev_aux_map(&aux, ring, 3, false, &err), -EINVAL);
	SAYS(err.remedy, "power of two");
	assert_true(pev_aux_map(&aux, ring, 16, false, &err) < 0);
	assert_null(aux);
	assert_true(err.said[0] && err.remedy[0]);
}

AROUND_ALL(needs_the_system_call, NULL)
