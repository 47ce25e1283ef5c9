/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints, probes, USDT and the msr PMU count exactly what happens. Needs root. */
#include "live.h"

#include <linux/hw_breakpoint.h>

#ifdef HAVE_SDT
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#endif

static volatile uint64_t watched;

static struct pev_event *open_probe(struct perf_event_attr *attr)
{
	attr->disabled = 1;
	return open_on(attr, pev_target_self());
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

static void breakpoint(struct perf_event_attr *attr, uint32_t type, const volatile void *addr,
		       uint64_t len)
{
	assert_int_equal(pev_attr_breakpoint(attr, type, (uint64_t)(uintptr_t)addr, len, NULL), 0);
	attr->exclude_kernel = 1;
}

TEST(writes_are_counted)
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

TEST(a_parsed_breakpoint_counts)
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

TEST(the_registers_run_out)
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

TEST(errors_of_uprobes)
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

static const struct pev_usdt_probe *find_probe(const struct pev_usdt *usdt, const char *name, size_t *at)
{
	const struct pev_usdt_probe *p;

	for (*at = 0; (p = pev_usdt_at(usdt, *at)); ++*at)
		if (!strcmp(p->provider, "pevtest") && !strcmp(p->name, name))
			return p;
	fail_msg("no probe %s", name);
	return NULL;
}

/* The semaphore of a guarded one is up while somebody watches: ref_ctr_offset. */
TEST(static_probes_are_counted)
{
	static const struct {
		const char *name;
		void (*fire)(unsigned int n);
	} probes[] = { { "plain", fire_plain }, { "guarded", fire_guarded } };
	struct pev_error err = { 0 };
	struct perf_event_attr attr;
	struct pev_usdt *usdt;
	size_t at;

	assert_int_equal(pev_usdt_open(&usdt, "/proc/self/exe", &err), 0);
	assert_true(find_probe(usdt, "guarded", &at)->ref_ctr_offset);
	for (size_t i = 0; i < COUNT(probes); i++) {
		SAYS(find_probe(usdt, probes[i].name, &at)->args, "@");
		assert_int_equal(pevtest_guarded_semaphore, 0);
		skip_if_refused(pev_attr_usdt(&attr, usdt, at, &err), &err);
		assert_int_equal(count_while(open_probe(&attr), probes[i].fire, 55), 55);
		assert_int_equal(pevtest_guarded_semaphore, 0);
	}
	pev_usdt_close(usdt);
}
#endif

TEST(a_file_without_probes)
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
TEST(the_time_stamp_counter_counts)
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

AROUND_ALL(needs_the_system_call, NULL)
