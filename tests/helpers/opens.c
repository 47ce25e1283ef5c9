/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `perf-prof check` says is checked against this: the same features opened by bare
 * system calls, knowing nothing of the library. Prints "NAME ERRNO USER_ONLY" per line.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern char __executable_start;

static unsigned long long word;
static long tracepoint;

static int open_event(struct perf_event_attr *a, pid_t pid, int cpu)
{
	a->size = sizeof(*a);
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, -1, 0UL);
}

/* errno, or 0. */
static int attempt(struct perf_event_attr a, pid_t pid, int cpu)
{
	int fd = open_event(&a, pid, cpu), code = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return code;
}

/* With a field that the header may not know: a word of the attr's bytes, "or"ed. */
static int attempt_word(struct perf_event_attr a, size_t at, unsigned long long value)
{
	unsigned long long raw[(PERF_ATTR_SIZE_VER0 + 128) / 8] = { 0 };
	int fd;

	a.size = (at + 1) * 8 > sizeof(a) ? (at + 1) * 8 : sizeof(a);
	memcpy(raw, &a, sizeof(a));
	raw[at] |= value;
	fd = (int)syscall(SYS_perf_event_open, raw, 0, -1, -1, 0UL);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void report(const char *name, int code, int user_only)
{
	printf("%s %d %d\n", name, code, user_only);
}

static void both_sides(const char *name, struct perf_event_attr a)
{
	int code = attempt(a, 0, -1), user;

	if (code != EACCES && code != EPERM) {
		report(name, code, 0);
		return;
	}
	a.exclude_kernel = a.exclude_hv = 1;
	user = attempt(a, 0, -1);
	report(name, user, !user);
}

#define EVENT(...) ((struct perf_event_attr){ __VA_ARGS__ })
#define CLOCK(...)                                                                                 \
	EVENT(.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1,  \
	      .exclude_hv = 1, .sample_period = 1000000, __VA_ARGS__)

static void events(void)
{
	both_sides("software", EVENT(.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK));
	both_sides("hardware", EVENT(.type = PERF_TYPE_HARDWARE));
	both_sides("cache", EVENT(.type = PERF_TYPE_HW_CACHE));
	both_sides("bpf-output", EVENT(.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT));
	both_sides("cgroup-switches", EVENT(.type = PERF_TYPE_SOFTWARE,
					    .config = PERF_COUNT_SW_CGROUP_SWITCHES));
	both_sides("breakpoint", EVENT(.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W,
				       .bp_addr = (unsigned long)&word, .bp_len = 4));
	both_sides("breakpoint-exec", EVENT(.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_X,
					    .bp_addr = (unsigned long)events, .bp_len = sizeof(long)));
	report("tracepoint", attempt(EVENT(.type = PERF_TYPE_TRACEPOINT, .config = tracepoint), 0, -1), 0);
	report("tracepoint-raw", attempt(EVENT(.type = PERF_TYPE_TRACEPOINT, .config = tracepoint,
					       .sample_type = PERF_SAMPLE_RAW, .sample_period = 1), 0, -1), 0);
}

static int number(const char *path)
{
	FILE *f = fopen(path, "r");
	int n = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

static void pmus(void)
{
	int msr = number("/sys/bus/event_source/devices/msr/type");
	int uprobe = number("/sys/bus/event_source/devices/uprobe/type");
	int kprobe = number("/sys/bus/event_source/devices/kprobe/type");

	report("msr", msr < 0 ? ENOENT : attempt(EVENT(.type = msr), 0, -1), 0);
	/* text is linked where it lies in the file */
	report("uprobe", uprobe < 0 ? ENOENT
			: attempt(EVENT(.type = uprobe, .uprobe_path = (unsigned long)"/proc/self/exe",
					.probe_offset = (unsigned long)((char *)pmus - &__executable_start)), 0, -1), 0);
	report("kprobe", kprobe < 0 ? ENOENT
			: attempt(EVENT(.type = kprobe, .kprobe_func = (unsigned long)"vfs_read"), 0, -1), 0);
	/* bit 0 of config: "retprobe" in the PMUs' format folder since Linux 4.17 */
	report("uretprobe", uprobe < 0 ? ENOENT
			: attempt(EVENT(.type = uprobe, .config = 1, .uprobe_path = (unsigned long)"/proc/self/exe",
					.probe_offset = (unsigned long)((char *)pmus - &__executable_start)), 0, -1), 0);
	report("kretprobe", kprobe < 0 ? ENOENT
			: attempt(EVENT(.type = kprobe, .config = 1, .kprobe_func = (unsigned long)"vfs_read"), 0, -1), 0);
}

/* v1 has a hierarchy for perf where cgroup v2 hasn't taken it over. */
static int cgroup_root(void)
{
	char line[4096], dir[2048], type[64], options[1024], found[2048] = "";
	FILE *f = fopen("/proc/mounts", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %2047s %63s %1023s", dir, type, options) != 3)
			continue;
		if (!strcmp(type, "cgroup") && strstr(options, "perf_event"))
			strcpy(found, dir);
		else if (!strcmp(type, "cgroup2") && !*found)
			strcpy(found, dir);
	}
	if (f)
		fclose(f);
	return *found ? open(found, O_RDONLY) : -1;
}

static int in_cgroup(void)
{
	struct perf_event_attr a = EVENT(.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
					 .size = sizeof(a));
	int dir = cgroup_root(), fd, code;

	if (dir < 0)
		return ENOENT;
	fd = (int)syscall(SYS_perf_event_open, &a, dir, 0, -1, PERF_FLAG_PID_CGROUP);
	code = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	close(dir);
	return code;
}

static void targets(void)
{
	struct perf_event_attr both = CLOCK();

	both.exclude_kernel = 0;
	report("user-side", attempt(CLOCK(), 0, -1), 0);
	report("kernel-side", attempt(both, 0, -1), 0);
	report("other-task", attempt(CLOCK(), 1, -1), 0);
	report("cpu", attempt(both, -1, 0), 0);
	report("cgroup", in_cgroup(), 0);
	both.sample_type = PERF_SAMPLE_CALLCHAIN;
	report("callchain-kernel", attempt(both, 0, -1), 0);
}

#if defined(__aarch64__)
#define IP_AND_SP (1ull << 32 | 1ull << 31)
#else
#define IP_AND_SP (1ull << 8 | 1ull << 7)
#endif

#ifdef __aarch64__
enum { IS_ARM64 = 1 };
#else
enum { IS_ARM64 = 0 };
#endif

#define CYCLES(...)                                                                                \
	EVENT(.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1, \
	      .exclude_hv = 1, __VA_ARGS__)

static int aux(void)
{
	static const char *const names[] = { "intel_pt", "arm_spe_0", "cs_etm", "intel_bts" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int type;

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", names[i]);
		type = number(path);
		if (type >= 0)
			return attempt(EVENT(.type = type, .exclude_kernel = 1), 0, -1);
	}
	return ENOENT;
}

static void hardware_samples(void)
{
	report("branch-stack", attempt(CYCLES(.sample_period = 1000000,
					      .sample_type = PERF_SAMPLE_BRANCH_STACK,
					      .branch_sample_type = PERF_SAMPLE_BRANCH_USER |
								    PERF_SAMPLE_BRANCH_ANY), 0, -1), 0);
	report("precise", attempt(CYCLES(.sample_period = 1000000, .precise_ip = 2), 0, -1), 0);
	report("aux", aux(), 0);
}

static void samples(void)
{
	report("stack-user", attempt(CLOCK(.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
					   .sample_regs_user = IP_AND_SP, .sample_stack_user = 8192), 0, -1), 0);
	report("regs-intr", attempt(CLOCK(.sample_type = PERF_SAMPLE_REGS_INTR,
					  .sample_regs_intr = IP_AND_SP), 0, -1), 0);

	report("callchain-user", attempt(CLOCK(.sample_type = PERF_SAMPLE_CALLCHAIN), 0, -1), 0);
	report("phys-addr", attempt(CLOCK(.sample_type = PERF_SAMPLE_PHYS_ADDR), 0, -1), 0);
	report("sample-cgroup", attempt(CLOCK(.sample_type = PERF_SAMPLE_CGROUP), 0, -1), 0);
	report("page-sizes", attempt(CLOCK(.sample_type = PERF_SAMPLE_DATA_PAGE_SIZE), 0, -1), 0);
	report("weight-struct", attempt(CLOCK(.sample_type = PERF_SAMPLE_WEIGHT_STRUCT), 0, -1), 0);
}

static void fields(void)
{
	report("clockid", attempt(CLOCK(.use_clockid = 1, .clockid = CLOCK_MONOTONIC), 0, -1), 0);
	report("context-switch", attempt(CLOCK(.context_switch = 1), 0, -1), 0);
	report("write-backward", attempt(CLOCK(.write_backward = 1), 0, -1), 0);
	report("namespaces", attempt(CLOCK(.namespaces = 1), 0, -1), 0);
	report("ksymbol", attempt(CLOCK(.ksymbol = 1), 0, -1), 0);
	report("bpf-event", attempt(CLOCK(.bpf_event = 1), 0, -1), 0);
	report("cgroup-records", attempt(CLOCK(.cgroup = 1), 0, -1), 0);
	report("text-poke", attempt(CLOCK(.text_poke = 1), 0, -1), 0);
	report("build-id", attempt(CLOCK(.build_id = 1), 0, -1), 0);
	report("inherit-thread", attempt(CLOCK(.inherit = 1, .inherit_thread = 1), 0, -1), 0);
	report("remove-on-exec", attempt(CLOCK(.remove_on_exec = 1), 0, -1), 0);
	report("sigtrap", attempt(CLOCK(.sigtrap = 1, .remove_on_exec = 1), 0, -1), 0);
	report("format-lost", attempt(CLOCK(.read_format = 1 << 4), 0, -1), 0);
}

enum { FLAGS = 5, CONFIG3 = 16, CONFIG4 = 17 };   /* words of the attr */

static void young_fields(void)
{
	report("config3", attempt_word(CLOCK(), CONFIG3, 1), 0);
	report("config4", attempt_word(CLOCK(), CONFIG4, 1), 0);
	report("defer-callchain", attempt_word(CLOCK(), FLAGS, 1ull << 38), 0);
	report("inherit-read", attempt(CLOCK(.inherit = 1, .sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID,
					     .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID), 0, -1), 0);
}

static void user_read(void)
{
	struct perf_event_attr a = CYCLES(.config1 = 3 * IS_ARM64);   /* readable, 64 bits wide */
	struct perf_event_mmap_page *page;
	int fd = open_event(&a, 0, -1);

	if (fd < 0) {
		report("user-read", errno, 0);
		return;
	}
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	report("user-read", page == MAP_FAILED ? errno :
	       page->cap_user_rdpmc && page->index ? 0 : EOPNOTSUPP, 0);
	close(fd);
}

static void ring(void)
{
	struct perf_event_attr a = CLOCK();
	size_t size = 129 * (size_t)sysconf(_SC_PAGESIZE);
	int fd = open_event(&a, 0, -1);
	void *p;

	if (fd < 0) {
		report("ring", errno, 0);
		return;
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	report("ring", p == MAP_FAILED ? errno : 0, 0);
	close(fd);
}

static void filter(void)
{
	struct perf_event_attr a = EVENT(.type = PERF_TYPE_TRACEPOINT, .config = tracepoint);
	int fd = open_event(&a, 0, -1);

	if (fd < 0) {
		report("filter", errno, 0);
		return;
	}
	report("filter", ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "common_pid > 1") ? errno : 0, 0);
	close(fd);
}

/* opens TRACEPOINT_ID: of an event whose kind needs nothing special. */
int main(int argc, char **argv)
{
	tracepoint = argc > 1 ? atol(argv[1]) : 0;
	report("tracefs", access("/sys/kernel/tracing/events/sched/sched_switch/id", R_OK) ? EACCES : 0, 0);
	events();
	pmus();
	targets();
	samples();
	hardware_samples();
	fields();
	young_fields();
	user_read();
	ring();
	filter();
	return 0;
}
