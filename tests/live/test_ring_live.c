/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of the kernel: each call is one record, none is lost or told as lost, side-band
 * records of what this process does.
 * Requires: perf_event_open(2), a readable tracefs, tracepoints.
 */
#include "ringed.h"

#include <poll.h>
#include <sys/mman.h>

enum { N = 1000 };

#define FULL                                                                                       \
	(PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_ID | \
	 PERF_SAMPLE_PERIOD)

struct tally {
	uint64_t samples, lost, others, bad, last_time;
	struct pev_record last;
};

static void drain(struct tally *t)
{
	const struct perf_event_header *rec;
	struct pev_record out;
	struct pev_format fmt;

	pev_format_from_attr(&fmt, pev_event_attr(ev));
	pev_ring_begin(ring);
	while ((rec = pev_ring_next(ring))) {
		if (pev_decode(rec, rec->size, &fmt, &out)) {
			t->bad++;
			continue;
		}
		t->last = out;
		if (out.type == PERF_RECORD_LOST) {
			t->lost += out.lost.lost;
		} else if (out.type == PERF_RECORD_SAMPLE) {
			assert_true(out.sample.time >= t->last_time);
			t->last_time = out.sample.time;
			t->samples++;
		} else {
			t->others++;
		}
	}
	pev_ring_end(ring);
	assert_int_equal(pev_ring_damaged(ring), 0);
	assert_int_equal(t->bad, 0);
}

RING_TEST(each_call_is_a_sample_and_so_many_wake)
{
	struct perf_event_attr attr;
	struct pollfd p = { .events = POLLIN };
	struct tally t = { 0 };
	uint64_t id;

	getppid_attr(&attr);
	attr.sample_type = FULL;
	attr.sample_id_all = 1;
	pev_attr_sample_period(&attr, 1);
	pev_attr_wakeup_events(&attr, 10);
	ev = open_on(&attr, pev_target_self());
	map(32);
	p.fd = pev_event_fd(ev);
	assert_int_equal(pev_event_id(ev, &id), 0);
	pev_event_enable(ev);
	call_getppid(9);
	assert_int_equal(poll(&p, 1, 0), 0);
	call_getppid(1);
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_true(p.revents & POLLIN);
	call_getppid(N - 10);
	pev_event_disable(ev);
	drain(&t);
	assert_int_equal(t.samples, N);
	assert_int_equal(t.lost, 0);
	assert_int_equal(t.last.size, 72);
	assert_int_equal(t.last.sample.id, id);
	assert_int_equal(t.last.sample.pid, getpid());
	assert_int_equal(t.last.sample.tid, gettid());
	assert_int_equal(t.last.sample.period, 1);
	assert_true(t.last.sample.raw_size >= 8);
	/* common_type, first of the raw bytes, is the tracepoint's id */
	assert_int_equal(*(const uint16_t *)t.last.sample.raw, attr.config);
	assert_int_equal(pev_ring_begin(ring), 0);
}

RING_TEST(rings_that_can_not_be)
{
	struct perf_event_attr attr;
	struct pev_ring *second;

	pev_attr_software(&attr, "dummy", NULL);
	ev = open_on(&attr, pev_target_self());
	assert_int_equal(pev_ring_map(&ring, ev, 3, &err), -EINVAL);
	assert_null(ring);
	SAYS(err.remedy, "3 is not a power of two");
	assert_true(pev_ring_map(&ring, ev, 1U << 31, &err) < 0);
	assert_null(ring);
	map(0);
	assert_int_equal(pev_ring_size(ring), PEV_RING_DEFAULT_PAGES * sysconf(_SC_PAGESIZE));
	assert_int_equal(pev_ring_map(&second, ev, 0, &err), -EBUSY);
	assert_null(second);
	assert_non_null(strstr(err.remedy, "has a ring"));
	assert_int_equal(pev_ring_wait(ring, 0, -1), 0);
	pev_ring_unmap(ring);
	map(0);
	close_both(NULL);
	attr.inherit = 1;
	ev = open_on(&attr, pev_target_self());
	assert_int_equal(pev_ring_map(&ring, ev, 1, &err), -EINVAL);
	SAYS(err.remedy, "inherit");
	close_both(NULL);   /* no ring */
	pev_event_close(NULL);
}

/* ------------------------------------------------------------------------
 * Side-band: what this process does
 */

struct seen {
	unsigned int comm, fork, exit, mmap;
	uint32_t child;
};

static void look(const struct pev_record *r, struct seen *s)
{
	if (r->type == PERF_RECORD_COMM && !strcmp(r->comm.comm, "pev \x1b test"))
		s->comm++;
	if (r->type == PERF_RECORD_FORK && r->task.ppid == (uint32_t)getpid()) {
		s->fork++;
		s->child = r->task.pid;
	}
	if (r->type == PERF_RECORD_EXIT && r->task.pid == s->child)
		s->exit++;
	if (r->type == PERF_RECORD_MMAP2 && r->mmap.prot & PROT_EXEC && r->mmap.len == 4096 &&
	    strstr(r->mmap.filename, "//anon"))
		s->mmap++;
	assert_true(r->sample_id.time > 0);
	assert_true(r->sample_id.present & PERF_SAMPLE_CPU);
}

static void side_band(void)
{
	struct perf_event_attr attr;

	pev_attr_software(&attr, "dummy", NULL);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	attr.sample_id_all = attr.comm = attr.task = attr.mmap = attr.mmap2 = attr.inherit = 1;
	attr.exclude_kernel = 1;
	ev = open_on(&attr, pev_target_thread_on_cpu(0, pin()));
	map(16);
}

static void do_things(void)
{
	char name[16];
	pid_t child;
	void *code;

	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, "pev \x1b test");
	prctl(PR_SET_NAME, name);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(code != MAP_FAILED);
	munmap(code, 4096);
	child = fork_child();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

RING_TEST(what_this_process_does)
{
	const struct perf_event_header *rec;
	struct pev_format fmt;
	struct pev_record out;
	struct seen s = { 0 };

	side_band();
	do_things();
	pev_format_from_attr(&fmt, pev_event_attr(ev));
	pev_ring_begin(ring);
	while ((rec = pev_ring_next(ring))) {
		assert_int_equal(pev_decode(rec, rec->size, &fmt, &out), 0);
		look(&out, &s);
	}
	pev_ring_end(ring);
	assert_int_equal(s.comm, 1);
	assert_int_equal(s.fork, 1);
	assert_int_equal(s.exit, 1);
	assert_int_equal(s.mmap, 1);
	unpin();
}

/* Call chains and counter values in samples of a clock. */
RING_TEST(clock_samples_with_chains_and_counts)
{
	struct perf_event_attr attr;
	struct tally t = { 0 };
	struct pev_count c;
	volatile uint64_t spin = 0;

	pev_attr_software(&attr, "task-clock", NULL);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ |
			   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID;
	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.exclude_kernel = attr.exclude_callchain_kernel = 1;
	pev_attr_sample_period(&attr, 1000000);
	ev = open_on(&attr, pev_target_self());
	map(16);
	for (uint64_t before = count_of(ev); t.samples < 10 && count_of(ev) - before < 5000000000;) {
		for (int i = 0; i < 100000; i++)
			spin++;
		drain(&t);
	}
	pev_event_disable(ev);
	assert_true(t.samples >= 10);
	assert_true(t.last.type == PERF_RECORD_SAMPLE);
	assert_true(t.last.sample.ip != 0);
	assert_true(t.last.sample.callchain_nr > 1);
	assert_int_equal(t.last.sample.callchain[0], PERF_CONTEXT_USER);
	assert_int_equal(t.last.sample.callchain[1], t.last.sample.ip);
	pev_read_value(&t.last.sample.read, 0, &c);
	assert_true(c.value > 0 && c.value <= count_of(ev));
	assert_true(c.id > 0 && c.time_enabled > 0);
}

AROUND_ALL(needs_the_system_call, NULL)
