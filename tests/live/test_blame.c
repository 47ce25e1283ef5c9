/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each way in which the kernel refuses an attr, provoked: the error names the field. A row
 * sets fields of one base event. Needs root, or kernel.perf_event_paranoid -1.
 */
#include "live.h"

#include <linux/hw_breakpoint.h>
#include <sys/resource.h>
#include <time.h>

enum base { SOFTWARE, TRACEPOINT, BREAKPOINT, MSR, UPROBE };
enum where { TASK, CPU };

struct set {
	const char *field;
	uint64_t value;
};

struct row {
	enum base base;
	enum where where;
	struct set set[5];
	const char *named;
	bool may_open;              /* some kernels allow it */
};

#define BIT(n) (1ull << (n))

static uint64_t target_word;

static const struct row rows[] = {
	/* bits that mean nothing */
	{ SOFTWARE, TASK, { { "sample_type", BIT(40) | PERF_SAMPLE_IP } }, "bit 40 of sample_type" },
	{ SOFTWARE, TASK, { { "sample_type", BIT(40) | BIT(41) | BIT(63) } }, "sample_type" },
	{ SOFTWARE, TASK, { { "read_format", BIT(20) } }, "bit 20 of read_format" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_BRANCH_STACK },
			    { "branch_sample_type", BIT(40) | PERF_SAMPLE_BRANCH_ANY } },
	  "bit 40 of branch_sample_type" },
	/* values that make no sense */
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_BRANCH_STACK },
			    { "branch_sample_type", PERF_SAMPLE_BRANCH_USER } },
	  "branch_sample_type" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_REGS_USER } }, "sample_regs_user = 0" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_REGS_USER }, { "sample_regs_user", BIT(63) } },
	  "sample_regs_user" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_REGS_INTR } }, "sample_regs_intr = 0" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_STACK_USER }, { "sample_stack_user", 7 } },
	  "sample_stack_user = 7" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_STACK_USER },
			    { "sample_stack_user", 65536 } }, "sample_stack_user = 65536" },
	{ SOFTWARE, TASK, { { "freq", 1 }, { "sample_freq", 1000000000 } },
	  "sample_freq = 0x3b9aca00 (kernel.perf_event_max_sample_rate is " },
	{ SOFTWARE, TASK, { { "sample_period", BIT(63) } }, "sample_period" },
	{ SOFTWARE, TASK, { { "use_clockid", 1 }, { "clockid", 77 } }, "clockid = 77" },
	{ SOFTWARE, TASK, { { "sample_max_stack", 60000 }, { "sample_type", PERF_SAMPLE_CALLCHAIN } },
	  "sample_max_stack 60000" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_REGS_INTR }, { "sample_regs_intr", BIT(63) } },
	  "sample_regs_intr" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_STACK_USER },
			    { "sample_stack_user", 65535 } }, "sample_stack_user = 65535" },
	{ SOFTWARE, TASK, { { "use_clockid", 1 }, { "clockid", CLOCK_PROCESS_CPUTIME_ID } }, "clockid = 2" },
	/* fields that want or exclude another */
	{ SOFTWARE, TASK, { { "aux_pause", 1 }, { "aux_resume", 1 } }, "aux_" },
	{ SOFTWARE, TASK, { { "aux_output", 1 }, { "aux_pause", 1 } }, "aux_" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT } },
	  "WEIGHT_STRUCT" },
	{ SOFTWARE, TASK, { { "inherit_thread", 1 } }, "inherit_thread" },
	{ SOFTWARE, TASK, { { "remove_on_exec", 1 }, { "enable_on_exec", 1 } }, "remove_on_exec" },
	{ SOFTWARE, TASK, { { "sigtrap", 1 } }, "sigtrap" },
	{ SOFTWARE, TASK, { { "inherit", 1 }, { "sample_type", PERF_SAMPLE_READ },
			    { "sample_period", 100 } }, "inherit" },
	{ SOFTWARE, CPU, { { "sigtrap", 1 }, { "remove_on_exec", 1 } }, "sigtrap" },
	/* fields that this kernel or event does not have */
	{ SOFTWARE, TASK, { { "defer_callchain", 1 } }, "defer_callchain", true },
	{ SOFTWARE, TASK, { { "defer_output", 1 } }, "defer_output", true },
	{ SOFTWARE, TASK, { { "config4", 1 } }, "config4", true },
	{ SOFTWARE, TASK, { { "aux_output", 1 } }, "aux_output" },
	{ SOFTWARE, TASK, { { "aux_sample_size", 64 }, { "sample_type", PERF_SAMPLE_AUX },
			    { "sample_period", 1 } }, "aux_sample_size" },
	{ SOFTWARE, TASK, { { "aux_start_paused", 1 } }, "aux_start_paused" },
	{ SOFTWARE, TASK, { { "aux_pause", 1 } }, "aux_pause" },
	{ SOFTWARE, TASK, { { "aux_resume", 1 } }, "aux_resume" },
	{ SOFTWARE, TASK, { { "sample_type", PERF_SAMPLE_BRANCH_STACK },
			    { "branch_sample_type", PERF_SAMPLE_BRANCH_ANY } }, "BRANCH_STACK" },
	/* breakpoints */
	{ BREAKPOINT, TASK, { { "bp_len", 0 } }, "bp_len" },
	{ BREAKPOINT, TASK, { { "bp_len", 9 } }, "bp_len" },
	{ BREAKPOINT, TASK, { { "bp_type", 0 } }, "bp_type" },
	{ BREAKPOINT, TASK, { { "bp_type", HW_BREAKPOINT_X | HW_BREAKPOINT_W } }, "bp_type" },
#ifdef __x86_64__
	{ BREAKPOINT, TASK, { { "bp_len", 3 } }, "bp_len = 3" },
	{ BREAKPOINT, TASK, { { "bp_addr", 0x1001 } }, "bp_addr" },
	{ BREAKPOINT, TASK, { { "bp_type", HW_BREAKPOINT_R } }, "bp_type = 1" },
	{ BREAKPOINT, TASK, { { "bp_type", HW_BREAKPOINT_X }, { "bp_len", 4 } }, "bp_len" },
#endif
	{ BREAKPOINT, TASK, { { "bp_addr", 0xffff888000000000 }, { "exclude_kernel", 1 } }, "bp_addr" },
	/* what a PMU refuses */
	{ TRACEPOINT, TASK, { { "config", 0xffff } }, "config" },
	{ TRACEPOINT, TASK, { { "config", 0 } }, "config" },
	{ MSR, CPU, { { "config", 99 } }, "config = 99" },
	{ MSR, CPU, { { "sample_period", 100 } }, "sample_period" },
	{ MSR, CPU, { { "exclude_user", 1 } }, "exclude_user" },
	{ MSR, CPU, { { "exclude_kernel", 1 }, { "exclude_hv", 1 } }, "exclude" },
	{ MSR, CPU, { { "exclude_idle", 1 }, { "sample_period", 5 } }, "exclude_idle" },
	{ UPROBE, TASK, { { "config1", (uint64_t)(uintptr_t)"" } }, "uprobe_path" },
	{ UPROBE, TASK, { { "config1", (uint64_t)(uintptr_t)"/proc/self" } }, "uprobe_path" },
	{ UPROBE, TASK, { { "config1", (uint64_t)(uintptr_t)"/no/such" } }, "uprobe_path" },
	{ UPROBE, TASK, { { "config1", 0x10 }, { "sample_type", BIT(40) } }, "sample_type" },
	{ UPROBE, TASK, { { "config1", (uint64_t)(uintptr_t)"/proc/self/exe" },
			  { "config", 3ull << 32 } }, "ref_ctr_offset" },
	{ UPROBE, TASK, { { "config1", (uint64_t)(uintptr_t)"/proc/self/exe" },
			  { "config2", BIT(40) } }, "probe_offset" },
};

/* Makes the base event; false if this machine has none. */
static bool make(union pev_attr_buf *buf, enum base base)
{
	struct perf_event_attr attr;
	uint32_t type;

	pev_attr_buf_init(buf, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	switch (base) {
	case SOFTWARE:
		return true;
	case TRACEPOINT:
		buf->attr.type = PERF_TYPE_TRACEPOINT;
		return true;
	case BREAKPOINT:
		pev_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uint64_t)(uintptr_t)&target_word, 8, NULL);
		return !pev_attr_buf_copy(buf, &attr);
	default:
		if (pev_pmu_lookup_type(base == MSR ? "msr" : "uprobe", &type))
			return false;
		pev_attr_buf_init(buf, type, 0);
		return true;
	}
}

static unsigned int failures;   /* of a test; all are shown before it fails */

static int all_named(void **state)
{
	unsigned int n = failures;

	failures = 0;
	return n ? -1 : 0;
}

static void check_error(const struct pev_error *err, int rc, const char *named)
{
	assert_int_equal(err->code, -rc);
	if (!strstr(err->remedy, named))
		failures++, print_error("%d: \"%s: %s; %s\" does not name %s\n", rc, err->asked,
					err->said, err->remedy, named);
	else
		print_message("%s: %s\n", named, err->remedy);
}

static void check_row(const struct row *row)
{
	union pev_attr_buf buf;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	int rc;

	if (!make(&buf, row->base))
		return;
	for (size_t i = 0; i < COUNT(row->set) && row->set[i].field; i++)
		assert_int_equal(pev_attr_set(&buf, row->set[i].field, row->set[i].value), 0);
	rc = pev_event_open(&ev, &buf.attr, row->where == CPU ? pev_target_cpu(0) : pev_target_self(),
			    NULL, &err);
	if (rc) {
		check_error(&err, rc, row->named);
		return;
	}
	pev_event_close(ev);
	if (!row->may_open)
		failures++, print_error("%s: the kernel takes it\n", row->named);
}

static void may_we(void)
{
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	pev_event_close(open_on(&attr, pev_target_cpu(0)));
}

TEST_WITH(every_refusal_names_the_field, NULL, all_named)
{
	may_we();
	for (size_t i = 0; i < COUNT(rows); i++)
		check_row(&rows[i]);
}

TEST_WITH(reserved_bits, NULL, all_named)
{
	static const struct {
		unsigned int word;
		uint64_t bit;
		const char *named;
	} words[] = {
		{ 5, 1ull << 63, "__reserved_1" }, { 5, 0xffull << 45, "__reserved_1" },
		{ 13, 1ull << 63, "__reserved_2" }, { 14, 1ull << 63, "__reserved_3" },
	};

	may_we();
	for (size_t i = 0; i < COUNT(words); i++) {
		union pev_attr_buf buf;
		struct pev_error err = { 0 };
		struct pev_event *ev;
		int rc;

		make(&buf, SOFTWARE);
		buf.words_[words[i].word] |= words[i].bit;
		rc = pev_event_open(&ev, &buf.attr, pev_target_self(), NULL, &err);
		assert_true(rc < 0);
		check_error(&err, rc, words[i].named);
	}
}

TEST_WITH(sizes, NULL, all_named)
{
	static const uint32_t bad[] = { 1, 63, 4097, UINT32_MAX };
	struct perf_event_attr attr;
	struct pev_error err;
	struct pev_event *ev;

	for (size_t i = 0; i < COUNT(bad); i++) {
		pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
		attr.exclude_kernel = 1;
		attr.size = bad[i];
		assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), -E2BIG);
		check_error(&err, -E2BIG, "size = ");
	}
	attr.size = 0;
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), &err);
	pev_event_close(ev);
}

/* ---- what surrounds an attr --------------------------------------------------------- */

static void refused_in_group(struct pev_event *leader, union pev_attr_buf *buf,
			     struct pev_target target, const char *named)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .group = leader };
	struct pev_error err = { 0 };
	struct pev_event *ev;
	int rc = pev_event_open(&ev, &buf->attr, target, &opts, &err);

	assert_true(rc < 0);
	check_error(&err, rc, named);
}

TEST_WITH(groups, NULL, all_named)
{
	static const char *const not_of_members[] = { "pinned", "exclusive", "inherit" };
	union pev_attr_buf buf;
	struct pev_event *leader, *member;
	struct pev_open_opts opts = { .size = sizeof(opts) };
	struct pev_error err;

	may_we();
	make(&buf, SOFTWARE);
	assert_int_equal(pev_event_open(&leader, &buf.attr, pev_target_self(), NULL, &err), 0);
	opts.group = leader;
	assert_int_equal(pev_event_open(&member, &buf.attr, pev_target_self(), &opts, &err), 0);
	refused_in_group(member, &buf, pev_target_self(), "the group");
	refused_in_group(leader, &buf, pev_target_cpu(0), "the group");
	for (size_t i = 0; i < COUNT(not_of_members); i++) {
		pev_attr_set(&buf, not_of_members[i], 1);
		refused_in_group(leader, &buf, pev_target_self(), not_of_members[i]);
		pev_attr_set(&buf, not_of_members[i], 0);
	}
	buf.attr.use_clockid = 1;
	buf.attr.clockid = CLOCK_MONOTONIC;
	refused_in_group(leader, &buf, pev_target_self(), "clockid");
	pev_event_close(member);
	pev_event_close(leader);
}

static void refused(struct perf_event_attr *attr, struct pev_target target, int code,
		    const char *named)
{
	struct pev_error err = { 0 };
	struct pev_event *ev;
	int rc = pev_event_open(&ev, attr, target, NULL, &err);

	assert_int_equal(rc, code);
	assert_null(ev);
	check_error(&err, rc, named);
	if (!strncmp(named, "CPU", 3))
		SAYS(err.asked, named);
}

TEST_WITH(targets, NULL, all_named)
{
	struct perf_event_attr attr;
	int fd;

	may_we();
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	refused(&attr, (struct pev_target){ 0 }, -EINVAL, "pev_target_");
	refused(&attr, pev_target_cpu(100000), -EINVAL, "CPU 100000");
	refused(&attr, pev_target_thread_on_cpu(gettid(), 100000), -EINVAL, "CPU 100000");
	refused(&attr, pev_target_cpu(-1), -EINVAL, "the target");
	refused(&attr, pev_target_thread(-5), -EINVAL, "the target");
	refused(&attr, pev_target_cgroup(-1, 0), -EINVAL, "the target");
	refused(&attr, pev_target_thread(INT32_MAX), -ESRCH, "thread 2147483647");
	fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	refused(&attr, pev_target_cgroup(fd, -1), -EINVAL, "the target");
	refused(&attr, pev_target_cgroup(fd, 0), -EBADF, "control group");
	close(fd);
}

/* The kernel wants what a read(2) of a group gives to fit into 16 KiB. */
TEST_WITH(a_group_too_long_to_be_read, NULL, all_named)
{
	struct pev_open_opts opts = { .size = sizeof(opts) };
	struct perf_event_attr attr;
	struct pev_event *ev[1100] = { NULL };
	struct rlimit files;
	struct pev_error err = { 0 };
	int rc = 0, n = 0;

	may_we();
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	for (; n < (int)COUNT(ev) && !rc; n++) {
		rc = pev_event_open(&ev[n], &attr, pev_target_self(), &opts, &err);
		opts.group = ev[0];
	}
	while (n-- > 0)
		pev_event_close(ev[n]);
	if (rc == -EMFILE)
		SKIP("needs 1,100 open files (ulimit -n)");
	assert_int_equal(rc, -E2BIG);
	check_error(&err, rc, "16 KiB");
}

TEST_WITH(flags, NULL, all_named)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .flags = 1u << 10 };
	struct pev_error err = { 0 };
	union pev_attr_buf buf;
	struct pev_event *ev;

	make(&buf, SOFTWARE);
	buf.attr.exclude_kernel = 1;
	assert_int_equal(pev_event_open(&ev, &buf.attr, pev_target_self(), &opts, &err), -EINVAL);
	check_error(&err, -EINVAL, "0x400 of flags");
}

AROUND_ALL(needs_the_system_call, NULL)
