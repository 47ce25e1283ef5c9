/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware counters: groups, multiplexing, reads without a system call.
 * Requires: a PMU that counts instructions; for the last kernel.perf_user_access=1 on arm64.
 */
#include "live.h"

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

static void two_counters_of_one_stretch(void **state)
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

/* More events than counters: each estimate is near the truth, and told to be one. */
static void multiplexed_counts_are_estimates(void **state)
{
	enum { EVENTS = 12 };
	struct pev_group *g = instructions_and_cycles();
	struct pev_event *ev[EVENTS];
	struct pev_estimate est;
	struct perf_event_attr attr;
	struct pev_count c[2], one;
	unsigned int shared = 0;

	assert_int_equal(pev_group_measure(g, work, NULL, c, 2), 2);
	pev_group_close(g);
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

static void reads_without_a_system_call(void **state)
{
	struct pev_group *g = instructions_and_cycles();
	struct pev_count kernel, user, again;
	struct pev_self *self;
	uint64_t begin, fast, slow;
	struct pev_event *ev;
	struct pev_error err = { 0 };
	struct perf_event_attr attr;
	enum { READS = 1000 };

	pev_group_close(g);
	hardware_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	attr.disabled = 0;
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), &err);
	assert_int_equal(pev_self_map(&self, ev), 0);
	if (!pev_self_fast(self)) {
		pev_self_unmap(self);
		pev_event_close(ev);
		SKIP("needs counters that user space may read (arm64: sysctl kernel.perf_user_access=1)");
	}
	/* between two reads by the kernel lies one without it */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(pev_event_read(ev, &kernel), 0);
		assert_int_equal(pev_self_read(self, &user), 0);
		assert_int_equal(pev_event_read(ev, &again), 0);
		assert_in_range(user.value, kernel.value, again.value);
		assert_in_range(user.time_enabled, kernel.time_enabled, again.time_enabled);
		assert_in_range(user.time_running, kernel.time_running, again.time_running);
		work(NULL);
	}
	begin = ns();
	for (int i = 0; i < READS; i++)
		pev_self_read(self, &user);
	fast = ns() - begin;
	begin = ns();
	for (int i = 0; i < READS; i++)
		pev_event_read(ev, &kernel);
	slow = ns() - begin;
	printf("# %llu ns without a system call, %llu ns with one\n",
	       (unsigned long long)fast / READS, (unsigned long long)slow / READS);
	assert_true(fast < slow);
	pev_self_unmap(self);
	pev_event_close(ev);
}

static void a_group_read_without_a_system_call(void **state)
{
	struct pev_group *g = instructions_and_cycles();
	struct pev_count mapped[2], c[2];

	assert_int_equal(pev_group_map_self(g), 0);
	assert_int_equal(pev_group_enable(g), 0);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_counters_of_one_stretch),
		cmocka_unit_test(multiplexed_counts_are_estimates),
		cmocka_unit_test_setup_teardown(reads_without_a_system_call, allow_user_access,
						restore_user_access),
		cmocka_unit_test_setup_teardown(a_group_read_without_a_system_call,
						allow_user_access, restore_user_access),
	};

	return cmocka_run_group_tests(tests, needs_the_system_call, NULL);
}
