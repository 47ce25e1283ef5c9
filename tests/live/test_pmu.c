/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware counters: groups, multiplexing, reads without a system call.
 * Requires: a PMU that counts instructions; for the last kernel.perf_user_access=1 on arm64.
 */
#include "live.h"

#include "perfevent/open/self.h"

#include <time.h>

enum { LOOPS = 1000000 };

/* Its instructions are the same each time. */
static void __attribute__((noinline)) work(void *arg)
{
	volatile uint64_t sum = 0;

	for (unsigned int i = 0; i < LOOPS; i++)
		sum += i;
	(void)sum;
	(void)arg;
}

static void hardware_attr(struct perf_event_attr *attr, uint64_t config)
{
	pev_attr_init(attr, PERF_TYPE_HARDWARE, config);
	attr->disabled = 1;
	attr->exclude_kernel = attr->exclude_hv = 1;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
#ifdef __aarch64__
	attr->config1 = 3;   /* readable by user space, 64 bits. Linux 5.17 */
#endif
}

static struct pev_group *instructions_and_cycles(void)
{
	struct pev_group *g = pev_group_new();
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count c[2];
	int rc;

	hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	pev_group_add(g, &attr, NULL);
	hardware_attr(&attr, PERF_COUNT_HW_CPU_CYCLES);
	pev_group_add(g, &attr, NULL);
	rc = pev_group_open(g, pev_target_self(), NULL, &err);
	if (rc)
		pev_group_close(g);
	skip_if_refused(rc, &err);
	assert_int_equal(pev_group_measure(g, work, NULL, c, 2), 2);
	if (!c[0].value) {
		pev_group_close(g);
		SKIP("needs a PMU that counts instructions");
	}
	return g;
}

TEST(two_counters_of_one_stretch)
{
	struct pev_group *g = instructions_and_cycles();
	struct pev_estimate est;
	struct pev_count c[2];
	uint64_t first = 0;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(pev_group_measure(g, work, NULL, c, 2), 2);
		assert_int_equal(pev_count_estimate(&c[0], &est), 0);
		if (!est.exact)
			continue;
		assert_true(c[0].value >= 3 * LOOPS && c[1].value > 0);
		if (!first)
			first = c[0].value;
		assert_true(c[0].value < first + first / 50 && c[0].value > first - first / 50);
	}
	pev_group_close(g);
}

enum { EVENTS = 12 };

/*
 * A counter may be there and count nothing, for perf as well (the sixth of some virtual machines): found out
 * by as many events as get a counter for themselves.
 */
static bool every_counter_counts(void)
{
	struct pev_event *ev[EVENTS];
	struct perf_event_attr attr;
	struct pev_count one;
	bool good = true;

	hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	attr.pinned = 1;
	for (unsigned int i = 0; i < EVENTS; i++)
		assert_int_equal(pev_event_open(&ev[i], &attr, pev_target_self(), NULL, NULL), 0);
	assert_int_equal(pev_tasks_enable(), 0);
	work(NULL);
	assert_int_equal(pev_tasks_disable(), 0);
	for (unsigned int i = 0; i < EVENTS; i++) {
		/* one that got no counter is in error, or never ran */
		if (!pev_event_read(ev[i], &one) && one.time_running && !one.value)
			good = false;
		pev_event_close(ev[i]);
	}
	return good;
}

/* More events than counters: each estimate is near the truth, and told to be one. */
TEST(multiplexed_counts_are_estimates)
{
	struct pev_group *g = instructions_and_cycles();
	struct pev_event *ev[EVENTS];
	struct pev_estimate est;
	struct perf_event_attr attr;
	struct pev_count c[2], one;
	unsigned int shared = 0;

	assert_int_equal(pev_group_measure(g, work, NULL, c, 2), 2);
	pev_group_close(g);
	if (!every_counter_counts())
		SKIP("needs a PMU whose counters all count: one of this machine's reads 0 all the time");
	hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(pev_event_open(&ev[i], &attr, pev_target_self(), NULL, NULL), 0);
	assert_int_equal(pev_tasks_enable(), 0);
	for (int i = 0; i < 400; i++)
		work(NULL);
	assert_int_equal(pev_tasks_disable(), 0);
	for (int i = 0; i < EVENTS; i++) {
		assert_int_equal(pev_event_read(ev[i], &one), 0);
		assert_int_equal(pev_count_estimate(&one, &est), 0);
		shared += !est.exact;
		assert_true(est.value > 0.8 * 400 * (double)c[0].value);
		assert_true(est.value < 1.25 * 400 * (double)c[0].value);
		pev_event_close(ev[i]);
	}
	if (!shared)
		SKIP("needs a PMU of fewer than %d counters", EVENTS);
}

static uint64_t ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* The sysctl of arm64 and riscv; as it was if value is NULL. */
static void user_access(const char *value)
{
	static const char path[] = "/proc/sys/kernel/perf_user_access";
	static char before[16];
	FILE *f = fopen(path, value ? "r" : "w");

	if (f && value && !fgets(before, sizeof(before), f))
		before[0] = '\0';
	if (f && !value)
		fputs(before, f);
	if (f)
		fclose(f);
	f = value ? fopen(path, "w") : NULL;
	if (f) {
		fputs(value, f);
		fclose(f);
	}
}

static int allow_user_access(void **state)
{
	(void)state;
	user_access("1");
	return 0;
}

static int restore_user_access(void **state)
{
	(void)state;
	user_access(NULL);
	return 0;
}

TEST_WITH(reads_without_a_system_call, allow_user_access, restore_user_access)
{
	struct pev_group *g = instructions_and_cycles();
	struct pev_count kernel, user, again;
	struct pev_self *self;
	struct pev_event *ev;
	struct pev_error err = { 0 };
	struct perf_event_attr attr;

	pev_group_close(g);
	hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	attr.disabled = 0;
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), &err);
	assert_int_equal(pev_self_map(&self, ev), 0);
	if (!pev_self_fast(self)) {
		pev_self_unmap(self);
		pev_event_close(ev);
		SKIP("needs counters that are read faster in user space (arm64: sysctl "
		     "kernel.perf_user_access=1; no hypervisor that traps them)");
	}
	/* between two reads by the kernel lies one without it */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(pev_event_read(ev, &kernel), 0);
		assert_int_equal(pev_self_read(self, &user), 0);
		assert_int_equal(pev_event_read(ev, &again), 0);
		assert_in_range(user.value, kernel.value, again.value);
		if (!user.stale) {
			assert_in_range(user.time_enabled, kernel.time_enabled, again.time_enabled);
			assert_in_range(user.time_running, kernel.time_running, again.time_running);
		}
		work(NULL);
	}
	pev_self_unmap(self);
	pev_event_close(ev);
}

/* As where a hypervisor traps it: some 50 us. */
static uint64_t trapped_counter(uint32_t index)
{
	for (uint64_t begin = ns(); ns() - begin < 50000; )
		;
	return pev_self_this_cpu_.counter(index);
}

/* Where reading the counter takes longer than the system call, that is made; the values are
 * the kernel's either way. */
TEST_WITH(a_trapped_counter_is_read_by_the_kernel, allow_user_access, restore_user_access)
{
	static const struct pev_self_cpu *const cpus[] = { &pev_self_this_cpu_, NULL };
	struct pev_self_cpu trapped = { trapped_counter, pev_self_this_cpu_.cycles,
					pev_self_this_cpu_.ns };
	struct pev_group *g = instructions_and_cycles();
	struct perf_event_attr attr;
	struct pev_count kernel, c;
	struct pev_self *self;
	struct pev_event *ev;

	pev_group_close(g);
	hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(pev_self_map_by_(&self, ev, cpus[i] ? cpus[i] : &trapped), 0);
		/* off the PMU nothing can be tried yet */
		assert_false(pev_self_fast(self));
		assert_non_null(strstr(pev_self_why(self), "by read(2)"));
		pev_event_enable(ev);
		if (!pev_self_is_fast_(pev_self_fast_read_(self, &c))) {
			pev_self_unmap(self);
			pev_event_close(ev);
			SKIP("needs counters that user space may read");
		}
		if (!cpus[i])
			assert_false(pev_self_fast(self));
		printf("# read %s\n", pev_self_why(self));
		assert_int_equal(!strstr(pev_self_why(self), "faster here"), pev_self_fast(self));
		assert_int_equal(pev_event_read(ev, &kernel), 0);
		assert_int_equal(pev_self_read(self, &c), 0);
		assert_true(c.value >= kernel.value);
		pev_event_disable(ev);
		pev_self_unmap(self);
	}
	pev_event_close(ev);
}

/* As where the kernel offers no clock with the counter: values are of now, times lag, but never
 * run ahead of the kernel's by more than two clocks differ. */
TEST_WITH(times_without_a_clock_lag, allow_user_access, restore_user_access)
{
	struct pev_self_cpu clockless = { pev_self_this_cpu_.counter, NULL, pev_self_this_cpu_.ns };
	struct pev_group *g = instructions_and_cycles();
	struct pev_count before, c, kernel, last = { 0 };
	struct perf_event_attr attr;
	struct pev_estimate est;
	struct pev_self *self;
	struct pev_event *ev;
	unsigned int stale = 0;
	enum { DIFFER_NS = 100000 };

	pev_group_close(g);
	hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	attr.disabled = 0;
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, NULL), 0);
	assert_int_equal(pev_self_map_by_(&self, ev, &clockless), 0);
	for (int i = 0; i < 50; i++) {
		pev_event_read(ev, &before);
		if (pev_self_fast_read_(self, &c) != SELF_STALE)
			continue;   /* switched just now, or the counter was shared */
		pev_event_read(ev, &kernel);
		stale++;
		assert_true(c.stale && c.timed);
		assert_in_range(c.value, before.value, kernel.value);
		assert_int_equal(c.time_enabled, c.time_running);
		assert_in_range(c.time_enabled, last.time_enabled, kernel.time_enabled + DIFFER_NS);
		last = pev_count_delta(&last, &c);
		assert_int_equal(pev_count_estimate(&last, &est), 0);
		assert_true(est.exact && est.value == (double)last.value);
		last = c;
		work(NULL);
	}
	printf("# %u of 50 reads had times that may lag\n", stale);
	pev_self_unmap(self);
	pev_event_close(ev);
	if (!stale)
		SKIP("needs counters that user space may read, and that nobody shares");
}

TEST_WITH(a_group_read_without_a_system_call, allow_user_access, restore_user_access)
{
	struct pev_group *g = instructions_and_cycles();
	struct pev_count mapped[2], c[2];

	assert_non_null(strstr(pev_group_why(g), "pev_group_map_self"));
	assert_int_equal(pev_group_map_self(g), 0);
	assert_false(pev_group_fast(g));   /* off */
	assert_int_equal(pev_group_enable(g), 0);
	printf("# a group is read %s\n", pev_group_why(g));
	assert_int_equal(pev_group_fast(g), !strncmp(pev_group_why(g), "in user", 7));
	for (int i = 0; i < 20; i++) {
		assert_int_equal(pev_event_read_group(pev_group_event(g, 0), c, 2), 2);
		assert_int_equal(pev_group_read(g, mapped, 2), 2);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(mapped[k].id, c[k].id);
			assert_true(mapped[k].value >= c[k].value);
			assert_true(mapped[k].value < c[k].value + 10 * LOOPS);
		}
		work(NULL);
	}
	pev_group_close(g);
}

AROUND_ALL(needs_the_system_call, NULL)
