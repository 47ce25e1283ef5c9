/* SPDX-License-Identifier: Apache-2.0 */
/* Attr helpers, software events by name, targets. */
#include "checks.h"

#include "perfevent/open/target.h"

#include <errno.h>

/* And no more: the caller may be built with an older header than the library. */
TEST(init_clears_128_bytes)
{
	union pev_attr_buf buf, want;

	memset(&buf, 0xff, sizeof(buf));
	memset(&want, 0xff, sizeof(want));
	memset(&want, 0, PERF_ATTR_SIZE_VER7);
	want.attr.size = PERF_ATTR_SIZE_VER7;
	want.attr.type = PERF_TYPE_RAW;
	want.attr.config = 0x1234;
	pev_attr_init(&buf.attr, PERF_TYPE_RAW, 0x1234);
	assert_memory_equal(&buf, &want, sizeof(buf));
}

TEST(what_excludes_each_other)
{
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, 0);
	pev_attr_sample_freq(&attr, 997);
	pev_attr_wakeup_watermark(&attr, 65536);
	ARE(NUMBERS(attr.freq, attr.sample_freq, attr.watermark, attr.wakeup_watermark), NUMBERS(1, 997, 1, 65536));
	pev_attr_sample_period(&attr, 5);
	pev_attr_wakeup_events(&attr, 3);
	ARE(NUMBERS(attr.freq, attr.sample_period, attr.watermark, attr.wakeup_events), NUMBERS(0, 5, 0, 3));
}

TEST(software_by_name)
{
	static const struct {
		const char *name;
		uint64_t config;
	} rows[] = {
		{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK }, { "task-clock", PERF_COUNT_SW_TASK_CLOCK },
		{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS }, { "faults", PERF_COUNT_SW_PAGE_FAULTS },
		{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES }, { "cs", PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS }, { "migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
		{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN }, { "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
		{ "alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS },
		{ "emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS }, { "dummy", PERF_COUNT_SW_DUMMY },
		{ "bpf-output", PERF_COUNT_SW_BPF_OUTPUT }, { "cgroup-switches", PERF_COUNT_SW_CGROUP_SWITCHES },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct perf_event_attr attr;

		assert_int_equal(pev_attr_software(&attr, rows[i].name, NULL), 0);
		ARE(NUMBERS(attr.type, attr.config, attr.size), NUMBERS(PERF_TYPE_SOFTWARE, rows[i].config, PERF_ATTR_SIZE_VER7));
	}
}

TEST(software_names_can_be_walked)
{
	uint64_t config, found, seen = 0;
	const char *name;
	unsigned int n = 0;

	for (; (name = pev_software_name(n, &config)); n++) {
		assert_int_equal(pev_software_lookup(name, &found), 0);
		assert_int_equal(found, config);
		seen |= 1ULL << config;
		assert_ptr_equal(pev_software_name(n, NULL), name);
	}
	assert_int_equal(seen, (1ULL << (PERF_COUNT_SW_CGROUP_SWITCHES + 1)) - 1);
	assert_null(pev_software_name(n + 1, &config));
	assert_null(pev_software_name(UINT32_MAX, &config));
}

TEST(unknown_software_event)
{
	struct perf_event_attr attr;
	struct pev_error err;

	assert_int_equal(pev_attr_software(&attr, "cpu_clock", &err), -ENOENT);
	assert_int_equal(err.code, ENOENT);
	assert_non_null(strstr(err.asked, "cpu_clock"));
	assert_non_null(strstr(err.remedy, "cpu-clock"));
	assert_int_equal(pev_attr_software(&attr, "", NULL), -ENOENT);
}

TEST(targets_become_arguments)
{
	static const struct row {
		struct pev_target target;
		int rc, pid, cpu;
		unsigned long flags;
		const char *text;
	} none = { { 0 }, -EINVAL, 0, 0, 0, "no target" };
	const struct row rows[] = {
		none,
		{ pev_target_self(), 0, 0, -1, 0, "the calling thread" }, { pev_target_thread(12), 0, 12, -1, 0, "thread 12" },
		{ pev_target_thread(0), 0, 0, -1, 0, "the calling thread" },
		{ pev_target_thread_on_cpu(12, 1), 0, 12, 1, 0, "thread 12 on CPU 1" },
		{ pev_target_cpu(3), 0, -1, 3, 0, "CPU 3" },
		{ pev_target_cgroup(9, 3), 0, 9, 3, PERF_FLAG_PID_CGROUP, "a control group on CPU 3" },
		/* any task on any CPU, by whatever way */
		{ pev_target_cpu(-1), -EINVAL, 0, 0, 0, NULL }, { pev_target_thread(-1), -EINVAL, 0, 0, 0, NULL },
		{ pev_target_thread_on_cpu(-1, -1), -EINVAL, 0, 0, 0, NULL },
		{ pev_target_cgroup(9, -1), -EINVAL, 0, 0, 0, NULL }, { pev_target_cgroup(-1, 0), -EINVAL, 0, 0, 0, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned long flags;
		char text[64];
		pid_t pid;
		int cpu;

		assert_int_equal(pev_target_args(rows[i].target, &pid, &cpu, &flags), rows[i].rc);
		pev_target_text(rows[i].target, text, sizeof(text));
		if (rows[i].text)
			assert_string_equal(text, rows[i].text);
		if (rows[i].rc)
			continue;
		ARE(NUMBERS(pid, cpu, flags), NUMBERS(rows[i].pid, rows[i].cpu, rows[i].flags));
	}
}
