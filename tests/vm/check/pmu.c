/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware counters, where the machine has any. What a loop of known length costs is
 * known to the instruction: a loop of 2 n rounds minus one of n rounds is n rounds.
 */
#include "check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	ROUND = 1000000,
	PER_ROUND = 2,      /* instructions, see rounds() */
#if defined(__riscv)
	/* QEMU's riscv64 counts the kernel too, and only one event of a kind */
	NOISE = 50000,
	MEMBERS = 2,
#else
	NOISE = 1000,
	MEMBERS = 4,
#endif
};

__attribute__((noinline)) static void rounds(uint64_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("1: sub $1, %0\n jnz 1b" : "+r"(n)::"cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(n)::"cc");
#elif defined(__riscv)
	__asm__ volatile("1: addi %0, %0, -1\n bnez %0, 1b" : "+r"(n));
#else
#error "write down a loop of PER_ROUND instructions"
#endif
}

static void run_rounds(void *n)
{
	rounds(*(uint64_t *)n);
}

static void hardware_attr(struct perf_event_attr *attr, uint64_t config)
{
	pev_attr_init(attr, PERF_TYPE_HARDWARE, config);
	attr->exclude_kernel = attr->exclude_hv = 1;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

/* Counters for both? else the check is over: skipped. */
static bool have_pmu(void)
{
	for (uint64_t config = PERF_COUNT_HW_CPU_CYCLES; config <= PERF_COUNT_HW_INSTRUCTIONS;
	     config++) {
		struct perf_event_attr attr;
		struct pev_event *ev;
		int rc;

		hardware_attr(&attr, config);
		rc = pev_event_open(&ev, &attr, pev_target_self(), NULL, NULL);
		if (rc) {
			skip("needs a PMU that counts cycles and instructions (%s)", strerror(-rc));
			return false;
		}
		pev_event_close(ev);
	}
	return true;
}

/* ---- counting --------------------------------------------------------------------- */

/* A group of n members, cycles and instructions in turn; NULL: the check is over. */
static struct pev_group *open_group(size_t n, uint64_t config1)
{
	struct pev_group *group = pev_group_new();
	struct pev_error err = { 0 };
	struct perf_event_attr attr;
	int rc;

	for (size_t i = 0; i < n; i++) {
		hardware_attr(&attr, i % 2 ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES);
		attr.config1 = config1;
		attr.disabled = !i;
		pev_group_add(group, &attr, NULL);
	}
	rc = pev_group_open(group, pev_target_self(), NULL, &err);
	if (!rc)
		return group;
	failed_with("a group of cycles and instructions", rc, &err);
	pev_group_close(group);
	return NULL;
}

/* Cycles and instructions of n rounds, all else left out. */
static int measure_rounds(struct pev_group *group, uint64_t n, struct pev_count *delta)
{
	struct pev_count one[2], two[2];
	uint64_t twice = 2 * n;
	int rc = pev_group_measure(group, run_rounds, &n, one, 2);

	if (rc >= 0)
		rc = pev_group_measure(group, run_rounds, &twice, two, 2);
	for (int i = 0; i < 2 && rc >= 0; i++)
		delta[i] = pev_count_delta(&one[i], &two[i]);
	return rc;
}

static void cycles_and_instructions(void)
{
	struct pev_count delta[2] = { 0 };
	struct pev_group *group;
	int rc;

	if (!have_pmu())
		return;
	group = open_group(2, 0);
	if (!group)
		return;
	rc = measure_rounds(group, ROUND, delta);
	/* what interrupts and the returns from them cost in user space is noise */
	works_if(rc >= 0 && delta[0].value && delta[1].value >= PER_ROUND * ROUND &&
		 delta[1].value < PER_ROUND * ROUND + NOISE,
		 "a group, a loop of %d rounds; expected %d instructions and some cycles, seen %llu "
		 "and %llu (%s)", ROUND, PER_ROUND * ROUND, (unsigned long long)delta[1].value,
		 (unsigned long long)delta[0].value, rc < 0 ? strerror(-rc) : "read");
	pev_group_close(group);
}

/* A kernel that takes any group never runs this one: then reading has to tell. */
static void too_large_a_group(struct pev_group *group, size_t n)
{
	struct pev_count counts[64];
	struct pev_estimate est;
	int rc;

	pev_group_enable(group);
	rounds(ROUND);
	pev_group_disable(group);
	rc = pev_group_read(group, counts, n);
	rc = rc < 0 ? rc : pev_count_estimate(&counts[0], &est);
	works_if(rc == -ENODATA, "a group of %zu, which the kernel takes and never runs; expected "
		 "that no estimate is given, seen %s", n, rc ? strerror(-rc) : "one");
}

static void group_limit(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	size_t n;
	int rc = 0;

	if (!have_pmu())
		return;
	for (n = 1; !rc; n++) {
		struct pev_group *group = pev_group_new();

		for (size_t i = 0; i < n; i++) {
			hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
			attr.disabled = !i;     /* or it runs while it is still small */
			pev_group_add(group, &attr, NULL);
		}
		rc = pev_group_open(group, pev_target_self(), NULL, &err);
		if (!rc && n == 64) {
			too_large_a_group(group, n);
			pev_group_close(group);
			return;
		}
		pev_group_close(group);
	}
	refused_if(rc == -EINVAL && n > 2 && strstr(error_text(&err), "group"),
		   "groups of 1, 2, ... members; expected a refusal beyond the number of counters "
		   "that names the group, seen at %zu: \"%s\"", n - 1, error_text(&err));
}

/* ---- sampling --------------------------------------------------------------------- */

static void cycle_samples(void)
{
	struct perf_event_attr attr;
	const struct perf_event_header *header;
	struct pev_count count;
	struct pev_format format;
	struct pev_record record;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	struct pev_ring *ring;
	uint64_t samples = 0, inside = 0;
	enum { PERIOD = 1000000 };
	double wanted;
	int rc;

	if (!have_pmu())
		return;
	hardware_attr(&attr, PERF_COUNT_HW_CPU_CYCLES);
	pev_attr_sample_period(&attr, PERIOD);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	attr.disabled = 1;
	if (open_self(&ev, &attr, "cycles"))
		return;
	rc = pev_ring_map(&ring, ev, 32, &err);
	if (rc) {
		failed_with("map a ring", rc, &err);
		return;
	}
	pev_event_enable(ev);
	rounds(100 * ROUND);
	pev_event_disable(ev);
	pev_event_read(ev, &count);
	pev_format_from_attr(&format, pev_event_attr(ev));
	pev_ring_begin(ring);
	while ((header = pev_ring_next(ring)))
		if (!pev_decode(header, header->size, &format, &record) &&
		    record.type == PERF_RECORD_SAMPLE) {
			uintptr_t at = (uintptr_t)rounds;

			samples++;
			inside += record.sample.ip >= at && record.sample.ip < at + 64;
		}
	pev_ring_end(ring);
	wanted = (double)count.value / PERIOD;
	works_if(samples && fabs((double)samples - wanted) <= 2 + wanted * 0.05 &&
		 inside * 10 >= samples * 9,
		 "one sample each %d cycles; expected %.0f within 5 %%, in the loop, seen %llu, %llu "
		 "there", PERIOD, wanted, (unsigned long long)samples, (unsigned long long)inside);
	pev_ring_unmap(ring);
	pev_event_close(ev);
}

/* ---- multiplexing ------------------------------------------------------------------- */

enum { EVENTS = 12 };

/* Opens 12 events, each for itself, cycles and instructions in turn; how many were. */
static int open_events(struct pev_event **evs)
{
	struct perf_event_attr attr;

	for (int i = 0; i < EVENTS; i++) {
		hardware_attr(&attr, i % 2 ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES);
		attr.disabled = 1;
		if (open_self(&evs[i], &attr, "12 events"))
			return i;
	}
	return EVENTS;
}

/* The worst of the 12 estimates. */
struct worst {
	double error, least_share, most_share;
	bool all_exact;
	int rc;
};

static void judge_event(struct worst *w, const struct pev_event *ev, double truth)
{
	struct pev_estimate est = { 0 };
	struct pev_count count;
	double error;

	w->rc = w->rc ? w->rc : pev_event_read(ev, &count);
	w->rc = w->rc ? w->rc : pev_count_estimate(&count, &est);
	if (w->rc)
		return;
	error = fabs(est.value - truth) / truth;
	w->error = error > w->error ? error : w->error;
	w->least_share = est.share < w->least_share ? est.share : w->least_share;
	w->most_share = est.share > w->most_share ? est.share : w->most_share;
	w->all_exact = w->all_exact && est.exact;
}

/* The truth comes of the same loop, counted without multiplexing. */
static void multiplex(void)
{
	struct worst w = { .least_share = 1, .all_exact = true };
	struct pev_event *evs[EVENTS] = { 0 };
	struct pev_count truth[2] = { 0 };
	struct pev_group *group;
	enum { N = 150 };

	if (!have_pmu())
		return;
	group = open_group(2, 0);
	if (!group)
		return;
	pev_group_measure(group, run_rounds, &(uint64_t){ (uint64_t)N * ROUND }, truth, 2);
	pev_group_close(group);
	if (open_events(evs) == EVENTS) {
		for (int i = 0; i < EVENTS; i++)
			pev_event_enable(evs[i]);
		rounds((uint64_t)N * ROUND);
		for (int i = 0; i < EVENTS; i++)
			pev_event_disable(evs[i]);
		for (int i = 0; i < EVENTS; i++)
			judge_event(&w, evs[i], (double)truth[i % 2].value);
		if (!w.rc && w.all_exact)
			skip("here 12 events fit on the counters");
		else
			works_if(!w.rc && w.error < 0.02 && w.least_share > 0.2 &&
				 w.most_share < 1,
				 "12 events on fewer counters; expected each estimate within 2 %% of "
				 "the truth, and its share told, seen at worst %.2f %%, shares %.0f to "
				 "%.0f %% (%s)", w.error * 100, w.least_share * 100,
				 w.most_share * 100, strerror(-w.rc));
	}
	for (int i = 0; i < EVENTS; i++)
		pev_event_close(evs[i]);
}

/* ---- reads without a system call ----------------------------------------------------- */

/* What the architecture wants for it; -1: it can't. */
static int64_t allow_user_reads(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_user_access", "w");

	if (f) {
		fputs("1", f);
		fclose(f);
	}
#if defined(__aarch64__)
	return f ? 3 : -1;      /* config1: 64 bits wide, readable by the user; Linux 5.17 */
#else
	return 0;
#endif
}

static void user_read(void)
{
	struct perf_event_attr attr;
	struct pev_count before, after, by_read;
	struct pev_event *ev;
	struct pev_self *self;
	int64_t config1;
	uint64_t loop;
	int64_t off;

	if (!have_pmu())
		return;
	config1 = allow_user_reads();
	hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	attr.config1 = (uint64_t)config1;
	if (config1 < 0) {
		skip("needs kernel.perf_user_access");
		return;
	}
	if (open_self(&ev, &attr, "instructions"))
		return;
	if (pev_self_map(&self, ev)) {
		works_if(false, "map the control page; expected a page, seen no memory");
		return;
	}
	if (strstr(pev_self_why(self), "faster here")) {
		skip("needs counters that nobody traps (read %s)", pev_self_why(self));
		return;
	}
	if (!pev_self_fast(self)) {
		works_if(false, "map the control page; expected reads without a system call, seen one %s",
			 pev_self_why(self));
		return;
	}
	pev_self_read(self, &before);
	rounds(ROUND);
	pev_self_read(self, &after);
	pev_event_read(ev, &by_read);
	loop = after.value - before.value;
	off = (int64_t)(by_read.value - after.value);
	works_if(loop >= PER_ROUND * ROUND && loop < PER_ROUND * ROUND + NOISE && off >= 0 && off < NOISE,
		 "instructions of %d rounds by two reads without a system call, then read(2); expected "
		 "%d + less than %d, read(2) less than %d later, seen %llu, %lld", ROUND,
		 PER_ROUND * ROUND, NOISE, NOISE, (unsigned long long)loop, (long long)off);
	pev_self_unmap(self);
	pev_event_close(ev);
}

/* A group is read 100 times; a tracepoint counts our system calls meanwhile. */
static void user_read_group(void)
{
	struct pev_count counts[MEMBERS], by_read[MEMBERS], calls = { 0 };
	struct perf_event_attr attr;
	struct pev_event *tracepoint;
	struct pev_group *group;
	int64_t config1;
	int rc, good = 0;

	if (!have_pmu())
		return;
	config1 = allow_user_reads();
	if (config1 < 0) {
		skip("needs kernel.perf_user_access");
		return;
	}
	if (pev_attr_tracepoint(&attr, "raw_syscalls", "sys_enter", NULL)) {
		skip("needs raw_syscalls:sys_enter");
		return;
	}
	attr.disabled = 1;
	if (open_self(&tracepoint, &attr, "raw_syscalls:sys_enter"))
		return;
	group = open_group(MEMBERS, (uint64_t)config1);
	if (!group)
		return;
	pev_group_enable(group);
	pev_group_read(group, by_read, MEMBERS);
	rc = pev_group_map_self(group);
	if (strstr(pev_group_why(group), "faster here")) {
		skip("needs counters that nobody traps (read %s)", pev_group_why(group));
		return;
	}
	pev_event_enable(tracepoint);
	for (int i = 0; i < 100; i++)
		good += pev_group_read(group, counts, MEMBERS) == MEMBERS &&
			counts[1].value > by_read[1].value &&
			counts[MEMBERS - 1].value >= by_read[MEMBERS - 1].value;
	pev_event_disable(tracepoint);
	pev_event_read(tracepoint, &calls);
	/* the one that disables the tracepoint is counted */
	works_if(!rc && good == 100 && calls.value <= 1,
		 "a group of %d read 100 times; expected no system call but the one that ends the "
		 "count, seen %llu and %d good reads (%s)", MEMBERS, (unsigned long long)calls.value, good, strerror(-rc));
	pev_group_close(group);
	pev_event_close(tracepoint);
}

const struct check pmu_checks[] = {
	{ "cycles and instructions", cycles_and_instructions },
	{ "group limit", group_limit },
	{ "cycle samples", cycle_samples },
	{ "12 events multiplexed", multiplex },
	{ "user-space read", user_read },
	{ "user-space read of a group", user_read_group },
	{ NULL, NULL },
};
