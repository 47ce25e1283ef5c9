/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints, probes, USDT and the msr PMU count exactly what happens. Needs root. */
#include "live.h"

#include <linux/hw_breakpoint.h>

#ifdef HAVE_SDT
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#endif

/* A clone would be called in place of the function that the probe sits on. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile uint64_t watched;

NOINLINE static uint64_t called(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

/* Named in symtab; its calls are counted by uprobes. */
NOINLINE uint64_t pev_test_probed(uint64_t n);
NOINLINE uint64_t pev_test_probed(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return called(n);
}

static struct pev_event *open_probe(struct perf_event_attr *attr)
{
	struct pev_error err = { 0 };
	struct pev_event *ev;

	attr->disabled = 1;
	skip_if_refused(pev_event_open(&ev, attr, pev_target_self(), NULL, &err), &err);
	return ev;
}

static uint64_t count_while(struct pev_event *ev, void (*work)(unsigned int n), unsigned int n)
{
	uint64_t value;

	assert_int_equal(pev_event_enable(ev), 0);
	work(n);
	assert_int_equal(pev_event_disable(ev), 0);
	work(7);   /* not counted any more */
	value = count_of(ev);
	pev_event_close(ev);
	return value;
}

/* ---- breakpoints ---------------------------------------------------------------------- */

static void write_word(unsigned int n)
{
	while (n--)
		watched = n;
}

static void read_word(unsigned int n)
{
	while (n--)
		(void)watched;
}

static void call_function(unsigned int n)
{
	while (n--)
		called(n);
}

static void breakpoint(struct perf_event_attr *attr, uint32_t type, const volatile void *addr,
		       uint64_t len)
{
	assert_int_equal(pev_attr_breakpoint(attr, type, (uint64_t)(uintptr_t)addr, len, NULL), 0);
	attr->exclude_kernel = 1;
}

static void writes_are_counted(void **state)
{
	static const uint64_t lengths[] = { 1, 2, 4, 8 };
	struct perf_event_attr attr;

	for (size_t i = 0; i < COUNT(lengths); i++) {
		breakpoint(&attr, HW_BREAKPOINT_W, &watched, lengths[i]);
		assert_int_equal(count_while(open_probe(&attr), write_word, 1000), 1000);
		breakpoint(&attr, HW_BREAKPOINT_W, &watched, lengths[i]);
		assert_int_equal(count_while(open_probe(&attr), read_word, 1000), 0);
	}
}

static void reads_and_writes_are_counted(void **state)
{
	struct perf_event_attr attr;

	breakpoint(&attr, HW_BREAKPOINT_RW, &watched, 8);
	assert_int_equal(count_while(open_probe(&attr), read_word, 500), 500);
	breakpoint(&attr, HW_BREAKPOINT_RW, &watched, 8);
	assert_int_equal(count_while(open_probe(&attr), write_word, 500), 500);
}

static void executions_are_counted(void **state)
{
	struct perf_event_attr attr;

	breakpoint(&attr, HW_BREAKPOINT_X, (const void *)called, 0);
	assert_int_equal(count_while(open_probe(&attr), call_function, 321), 321);
}

static void a_parsed_breakpoint_counts(void **state)
{
	struct pev_attr_list *list;
	struct perf_event_attr attr;
	char text[64];

	snprintf(text, sizeof(text), "mem:%#llx/8:w:u", (unsigned long long)(uintptr_t)&watched);
	assert_int_equal(pev_attr_parse(&list, text, NULL, NULL), 0);
	attr = *pev_attr_list_at(list, 0)->attr;
	pev_attr_list_free(list);
	assert_int_equal(count_while(open_probe(&attr), write_word, 12), 12);
}

static void the_registers_run_out(void **state)
{
	static uint64_t words[64];
	struct pev_event *open[64];
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	size_t n = 0;
	int rc = 0;

	for (; n < COUNT(words) && !rc; n += !rc) {
		breakpoint(&attr, HW_BREAKPOINT_W, &words[n], 8);
		rc = pev_event_open(&open[n], &attr, pev_target_self(), NULL, &err);
	}
	while (n)
		pev_event_close(open[--n]);
	if (rc == -EACCES || rc == -EPERM)
		skip_if_refused(rc, &err);
	assert_int_equal(rc, -ENOSPC);
	assert_non_null(strstr(err.remedy, "breakpoint registers"));
}

/* ---- uprobes ----------------------------------------------------------------------------- */

static void call_probed(unsigned int n)
{
	while (n--)
		pev_test_probed(n);
}

static void functions_and_returns_are_counted(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };

	for (int ret = 0; ret < 2; ret++) {
		skip_if_refused(pev_attr_uprobe_symbol(&attr, "/proc/self/exe", "pev_test_probed", 0, ret,
						       &err), &err);
		assert_int_equal(count_while(open_probe(&attr), call_probed, 1234), 1234);
	}
}

static void errors_of_uprobes(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };

	assert_int_equal(pev_attr_uprobe_symbol(&attr, "/proc/self/exe", "no_such_function", 0, false,
						&err), -ENOENT);
	assert_non_null(strstr(err.asked, "no_such_function"));
	assert_int_equal(pev_attr_uprobe_symbol(&attr, "/nonexistent", "main", 0, false, &err), -ENOENT);
	assert_non_null(strstr(err.said, "ENOENT"));
	assert_int_equal(pev_attr_uprobe_symbol(&attr, "/proc/self/status", "main", 0, false, &err), -EBADMSG);
	assert_int_equal(pev_attr_uprobe_symbol(&attr, "/dev", "main", 0, false, &err), -EBADMSG);
	assert_int_equal(pev_attr_uprobe(&attr, "", 0, 0, false, &err), -EINVAL);
	assert_int_equal(pev_attr_kprobe(&attr, "", 0, false, &err), -EINVAL);
	assert_int_equal(pev_attr_kprobe(&attr, "vfs_read", 4, true, &err), -EINVAL);
}

#if defined(__x86_64__)
#define GETPPID "__x64_sys_getppid"
#elif defined(__aarch64__)
#define GETPPID "__arm64_sys_getppid"
#elif defined(__riscv)
#define GETPPID "__riscv_sys_getppid"
#else
#define GETPPID "sys_getppid"
#endif

/* The kprobe PMU is not on every machine. */
static void kernel_functions_are_counted(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };

	for (int ret = 0; ret < 2; ret++) {
		skip_if_refused(pev_attr_kprobe(&attr, GETPPID, 0, ret, &err), &err);
		assert_int_equal(count_while(open_probe(&attr), call_getppid, 99), 99);
	}
}

/* ---- USDT ------------------------------------------------------------------------------------ */

#ifdef HAVE_SDT
__extension__ unsigned short pevtest_guarded_semaphore __attribute__((section(".probes")));
__extension__ unsigned short pevtest_plain_semaphore __attribute__((section(".probes")));

static void fire_plain(unsigned int n)
{
	while (n--)
		STAP_PROBE1(pevtest, plain, n);
}

static void fire_guarded(unsigned int n)
{
	while (n--)
		if (pevtest_guarded_semaphore)
			STAP_PROBE2(pevtest, guarded, n, 2);
}

static size_t find_probe(const struct pev_usdt *usdt, const char *name)
{
	const struct pev_usdt_probe *p;

	for (size_t i = 0; (p = pev_usdt_at(usdt, i)); i++)
		if (!strcmp(p->provider, "pevtest") && !strcmp(p->name, name))
			return i;
	fail_msg("no probe %s", name);
	return 0;
}

static void static_probes_are_counted(void **state)
{
	struct pev_error err = { 0 };
	struct perf_event_attr attr;
	struct pev_usdt *usdt;
	size_t plain;

	assert_int_equal(pev_usdt_open(&usdt, "/proc/self/exe", &err), 0);
	plain = find_probe(usdt, "plain");
	assert_non_null(strchr(pev_usdt_at(usdt, plain)->args, '@'));
	skip_if_refused(pev_attr_usdt(&attr, usdt, plain, &err), &err);
	assert_int_equal(count_while(open_probe(&attr), fire_plain, 55), 55);
	pev_usdt_close(usdt);
}

/* The semaphore is up while somebody watches: ref_ctr_offset. */
static void semaphores_are_raised(void **state)
{
	struct pev_error err = { 0 };
	struct perf_event_attr attr;
	struct pev_usdt *usdt;
	size_t guarded;

	assert_int_equal(pev_usdt_open(&usdt, "/proc/self/exe", &err), 0);
	guarded = find_probe(usdt, "guarded");
	assert_true(pev_usdt_at(usdt, guarded)->ref_ctr_offset);
	assert_int_equal(pevtest_guarded_semaphore, 0);
	skip_if_refused(pev_attr_usdt(&attr, usdt, guarded, &err), &err);
	assert_int_equal(count_while(open_probe(&attr), fire_guarded, 66), 66);
	assert_int_equal(pevtest_guarded_semaphore, 0);
	pev_usdt_close(usdt);
}
#endif

static void a_file_without_probes(void **state)
{
	struct pev_error err = { 0 };
	struct pev_usdt *usdt;
	struct perf_event_attr attr;

	if (access("/bin/true", R_OK))
		SKIP("needs /bin/true");
	assert_int_equal(pev_usdt_open(&usdt, "/bin/true", &err), 0);
	assert_null(pev_usdt_at(usdt, 0));
	assert_int_equal(pev_attr_usdt(&attr, usdt, 0, &err), -ENOENT);
	pev_usdt_close(usdt);
	assert_int_equal(pev_usdt_open(&usdt, "/proc/self/status", &err), -EBADMSG);
	assert_int_equal(pev_usdt_open(&usdt, "/nonexistent", &err), -ENOENT);
	assert_null(usdt);
}

/* ---- the msr PMU ------------------------------------------------------------------------------- */

#ifdef __x86_64__
static void the_time_stamp_counter_counts(void **state)
{
	struct pev_error err = { 0 };
	union pev_attr_buf buf;
	struct pev_event *ev;
	struct pev_pmu *pmu;
	uint64_t before, after, value;

	skip_if_refused(pev_pmu_open(&pmu, "msr", &err), &err);
	assert_int_equal(pev_pmu_attr(pmu, "tsc", &buf, &err), 0);
	pev_pmu_close(pmu);
	before = __builtin_ia32_rdtsc();
	skip_if_refused(pev_event_open(&ev, &buf.attr, pev_target_cpu(0), NULL, &err), &err);
	for (volatile int i = 0; i < 1000000; i++)
		;
	value = count_of(ev);
	after = __builtin_ia32_rdtsc();
	pev_event_close(ev);
	assert_true(value > 1000000 / 4 && value <= after - before);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_are_counted),
		cmocka_unit_test(reads_and_writes_are_counted),
		cmocka_unit_test(executions_are_counted),
		cmocka_unit_test(a_parsed_breakpoint_counts),
		cmocka_unit_test(the_registers_run_out),
		cmocka_unit_test(functions_and_returns_are_counted),
		cmocka_unit_test(errors_of_uprobes),
		cmocka_unit_test(kernel_functions_are_counted),
#ifdef HAVE_SDT
		cmocka_unit_test(static_probes_are_counted),
		cmocka_unit_test(semaphores_are_raised),
#endif
		cmocka_unit_test(a_file_without_probes),
#ifdef __x86_64__
		cmocka_unit_test(the_time_stamp_counter_counts),
#endif
	};

	return cmocka_run_group_tests(tests, needs_the_system_call, NULL);
}
