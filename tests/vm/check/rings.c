/* SPDX-License-Identifier: Apache-2.0 */
/* Samples and other records through rings: none vanishes without being counted. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 1000 };

/* What came out of a ring. */
struct tally {
	uint64_t samples, lost, bad, backwards, wrapped, in_leaf, chains, last_time;
	uint64_t pos;                    /* bytes of all records so far */
	uint64_t types[PEV_RECORD_MAX_KNOWN + 2];
	uint32_t pid;                    /* a COMM, FORK, EXIT or MMAP2 counts if it is of this task */
};

static void add_sample(struct tally *t, const struct pev_sample *s)
{
	uintptr_t at = (uintptr_t)leaf;

	t->samples++;
	t->backwards += s->time < t->last_time;
	t->last_time = s->time;
	t->in_leaf += s->ip >= at && s->ip < at + 256;
	for (uint64_t i = 0; i < s->callchain_nr; i++)
		if (s->callchain[i] >= at && s->callchain[i] < at + 256) {
			t->chains++;
			break;
		}
}

static uint32_t pid_of(const struct pev_record *r)
{
	switch (r->type) {
	case PERF_RECORD_COMM:
		return r->comm.pid;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return r->task.pid;
	case PERF_RECORD_MMAP2:
		return r->mmap.pid;
	}
	return 0;
}

static void add(struct tally *t, const struct pev_record *r, size_t ring_size)
{
	t->wrapped += t->pos % ring_size + r->size > ring_size;
	t->pos += r->size;
	if (r->type == PERF_RECORD_SAMPLE)
		add_sample(t, &r->sample);
	else if (r->type == PERF_RECORD_LOST)
		t->lost += r->lost.lost;
	if (r->type <= PEV_RECORD_MAX_KNOWN && (!t->pid || t->pid == pid_of(r)))
		t->types[r->type]++;
}

static void drain(struct pev_ring *ring, const struct pev_event *ev, struct tally *t)
{
	const struct perf_event_header *header;
	struct pev_format format;
	struct pev_record record;

	pev_format_from_attr(&format, pev_event_attr(ev));
	pev_ring_begin(ring);
	while ((header = pev_ring_next(ring))) {
		if (pev_decode(header, header->size, &format, &record))
			t->bad++;
		else
			add(t, &record, pev_ring_size(ring));
	}
	pev_ring_end(ring);
	t->bad += pev_ring_damaged(ring);
}

/* An event with a ring on the calling thread; false: the check is over. */
static bool open_ring(struct pev_event **ev, struct pev_ring **ring,
		      const struct perf_event_attr *attr, unsigned int pages)
{
	struct pev_error err = { 0 };
	int rc = open_self(ev, attr, "open");

	if (rc)
		return false;
	rc = pev_ring_map(ring, *ev, pages, &err);
	if (rc) {
		failed_with("map a ring", rc, &err);
		pev_event_close(*ev);
	}
	return !rc;
}

static void close_ring(struct pev_event *ev, struct pev_ring *ring)
{
	pev_ring_unmap(ring);
	pev_event_close(ev);
}

static bool getppid_samples(struct perf_event_attr *attr)
{
	if (!getppid_attr(attr))
		return false;
	pev_attr_sample_period(attr, 1);
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
	attr->sample_id_all = 1;
	return true;
}

static void ring_wrap(void)
{
	struct perf_event_attr attr;
	struct tally t = { 0 };
	struct pev_event *ev;
	struct pev_ring *ring;

	if (!getppid_samples(&attr) || !open_ring(&ev, &ring, &attr, 1))
		return;
	for (int i = 0; i < CALLS; i += 10) {
		call_getppid(10);
		drain(ring, ev, &t);
	}
	works_if(t.samples == CALLS && !t.lost && !t.bad && !t.backwards && t.wrapped > 3,
		 "1000 samples through one page, drained every 10; expected 1000, none lost or "
		 "damaged, time forward, seen %llu, %llu lost, %llu damaged, %llu backward, %llu "
		 "wrapped", (unsigned long long)t.samples, (unsigned long long)t.lost,
		 (unsigned long long)t.bad, (unsigned long long)t.backwards,
		 (unsigned long long)t.wrapped);
	close_ring(ev, ring);
}

/* LOST comes only with the next record that finds room: one more call brings it. */
static void ring_loss(void)
{
	struct perf_event_attr attr;
	struct tally t = { 0 };
	struct pev_event *ev;
	struct pev_ring *ring;

	if (!getppid_samples(&attr) || !open_ring(&ev, &ring, &attr, 1))
		return;
	call_getppid(CALLS);
	drain(ring, ev, &t);
	call_getppid(1);
	drain(ring, ev, &t);
	works_if(t.samples + t.lost == CALLS + 1 && t.lost && !t.bad,
		 "1001 calls, a ring of one page; expected samples + lost = 1001, seen %llu + %llu",
		 (unsigned long long)t.samples, (unsigned long long)t.lost);
	close_ring(ev, ring);
}

/* Linux 5.10 and 5.15 got it meanwhile, from 5.10.203 on: versions don't tell, trying does. */
static bool refuses_lost(const struct perf_event_attr *attr)
{
	struct pev_error err = { 0 };
	struct pev_event *ev = NULL;
	int rc = pev_event_open(&ev, attr, pev_target_self(), NULL, &err);

	pev_event_close(ev);
	if (!rc)
		return false;
	refused_if(rc == -EINVAL && strstr(error_text(&err), "PERF_FORMAT_LOST"),
		   "before Linux 6.0; expected an error that names it, seen \"%s\"",
		   error_text(&err));
	return true;
}

static void format_lost(void)
{
	struct perf_event_attr attr;
	struct pev_count count = { 0 };
	struct tally t = { 0 };
	struct pev_event *ev;
	struct pev_ring *ring;

	if (!getppid_samples(&attr))
		return;
	attr.read_format = PEV_FORMAT_LOST | PERF_FORMAT_ID;
	if (!kernel_has(6, 0) && refuses_lost(&attr))
		return;
	if (!open_ring(&ev, &ring, &attr, 1))
		return;
	call_getppid(CALLS);
	drain(ring, ev, &t);
	pev_event_read(ev, &count);
	works_if(t.samples + count.lost == CALLS && count.lost && count.value == CALLS,
		 "1000 calls, a ring of one page; expected samples + lost = 1000 without a further "
		 "record, seen %llu + %llu of %llu", (unsigned long long)t.samples,
		 (unsigned long long)count.lost, (unsigned long long)count.value);
	close_ring(ev, ring);
}

static void ring_wake_up(void)
{
	struct perf_event_attr attr;
	struct pollfd p = { .events = POLLIN };
	struct pev_event *ev;
	struct pev_ring *ring;
	int early, late;

	if (!getppid_samples(&attr))
		return;
	pev_attr_wakeup_watermark(&attr, 8192);
	if (!open_ring(&ev, &ring, &attr, 4))
		return;
	p.fd = pev_event_fd(ev);
	call_getppid(5);
	early = poll(&p, 1, 0);
	call_getppid(300);
	late = poll(&p, 1, 5000);
	works_if(early == 0 && late == 1 && p.revents & POLLIN,
		 "poll with a watermark of 8 KiB; expected no wake-up after 5 samples and one after "
		 "305, seen %d and %d", early, late);
	close_ring(ev, ring);
}

static void samples_of_clock(const char *name)
{
	struct perf_event_attr attr;
	struct tally t = { 0 };
	struct pev_event *ev;
	struct pev_ring *ring;
	uint64_t ms = 0;

	pev_attr_software(&attr, name, NULL);
	pev_attr_sample_period(&attr, 1000000);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
	attr.exclude_kernel = 1;
	if (!open_ring(&ev, &ring, &attr, 64))
		return;
	/* the timers of a guest whose host is busy come late */
	while (ms < 5000 && (ms < 100 || t.samples < 50)) {
		burn(50000000);
		ms += 50;
		drain(ring, ev, &t);
	}
	works_if(t.samples >= 50 && t.samples <= ms * 13 / 10 && t.in_leaf * 2 > t.samples &&
		 t.chains * 2 > t.samples && !t.bad,
		 "%s each ms of %llu ms; expected 50 to %llu samples, most in leaf(), seen %llu, %llu "
		 "there, %llu call chains with it", name, (unsigned long long)ms,
		 (unsigned long long)ms * 13 / 10, (unsigned long long)t.samples,
		 (unsigned long long)t.in_leaf, (unsigned long long)t.chains);
	close_ring(ev, ring);
}

static void cpu_clock_samples(void)
{
	samples_of_clock("cpu-clock");
}

/* A child that changes its name, maps code and ends. */
static pid_t busy_child(const int *gate)
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	if (read(gate[0], &c, 1) == 1) {
		int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

		prctl(PR_SET_NAME, "renamed");
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (!fork())
			_exit(0);
		wait(NULL);
	}
	_exit(0);
}

static void task_records(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev = NULL;
	struct pev_ring *ring = NULL;
	struct tally t = { 0 };
	int gate[2], rc;
	pid_t pid;

	if (pipe(gate)) {
		skip("no pipe: %s", strerror(errno));
		return;
	}
	pid = busy_child(gate);
	pev_attr_software(&attr, "dummy", NULL);
	attr.comm = attr.comm_exec = attr.task = attr.mmap = attr.mmap2 = attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	rc = pev_event_open(&ev, &attr, pev_target_thread(pid), NULL, &err);
	if (!rc)
		rc = pev_ring_map(&ring, ev, 8, &err);
	if (write(gate[1], "x", 1) != 1 || rc) {
		failed_with("a child's dummy event", rc, &err);
		return;
	}
	waitpid(pid, NULL, 0);
	close(gate[0]);
	close(gate[1]);
	t.pid = (uint32_t)pid;
	drain(ring, ev, &t);
	t.pid = 0;
	/* FORK bears the pid of the grandchild, so it is not of this task */
	works_if(t.types[PERF_RECORD_COMM] == 1 && t.types[PERF_RECORD_MMAP2] == 1 &&
		 t.types[PERF_RECORD_EXIT] == 1 && !t.bad,
		 "a child renames itself, maps code, ends; expected COMM 1, MMAP2 1, EXIT 1, seen "
		 "%llu, %llu, %llu, %llu damaged", (unsigned long long)t.types[PERF_RECORD_COMM],
		 (unsigned long long)t.types[PERF_RECORD_MMAP2],
		 (unsigned long long)t.types[PERF_RECORD_EXIT], (unsigned long long)t.bad);
	close_ring(ev, ring);
}

/* Two tracepoints, one ring: IDENTIFIER tells whose sample it is. */
static void set_output(void)
{
	struct perf_event_attr attr;
	struct tally t = { 0 };
	struct pev_event *ev, *other;
	struct pev_count counts[2] = { 0 };
	struct pev_ring *ring;
	int rc;

	if (!getppid_samples(&attr))
		return;
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (!open_ring(&ev, &ring, &attr, 64))
		return;
	if (open_self(&other, &attr, "the same event twice"))
		return;
	rc = pev_event_set_output(other, ev);
	call_getppid(100);
	drain(ring, ev, &t);
	pev_event_read(ev, &counts[0]);
	pev_event_read(other, &counts[1]);
	works_if(!rc && t.samples == 200 && !t.bad,
		 "100 calls, two events into one ring; expected 200 samples, seen %llu, %llu lost, "
		 "%llu damaged, counted %llu and %llu (%s)", (unsigned long long)t.samples,
		 (unsigned long long)t.lost, (unsigned long long)t.bad, (unsigned long long)counts[0].value,
		 (unsigned long long)counts[1].value, strerror(-rc));
	pev_event_close(other);
	close_ring(ev, ring);
}

static void inherited_ring(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	struct pev_ring *ring;
	int rc;

	if (!getppid_samples(&attr))
		return;
	attr.inherit = 1;
	if (open_self(&ev, &attr, "inherited"))
		return;
	rc = pev_ring_map(&ring, ev, 8, &err);
	refused_if(rc == -EINVAL && strstr(error_text(&err), "open one per CPU"),
		   "a ring of an inherited event on any CPU; expected an error that says why, seen "
		   "\"%s\"", rc ? error_text(&err) : "it was mapped");
	if (!rc)
		pev_ring_unmap(ring);
	pev_event_close(ev);
}

const struct check ring_checks[] = {
	{ "ring that wraps", ring_wrap },
	{ "ring that overflows", ring_loss },
	{ "PERF_FORMAT_LOST", format_lost },
	{ "ring wake-up", ring_wake_up },
	{ "cpu-clock samples", cpu_clock_samples },
	{ "task records", task_records },
	{ "set_output", set_output },
	{ "inherited ring", inherited_ring },
	{ NULL, NULL },
};
