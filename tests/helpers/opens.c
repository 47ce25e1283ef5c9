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
}

static void targets(void)
{
	struct perf_event_attr both = CLOCK();

	both.exclude_kernel = 0;
	report("user-side", attempt(CLOCK(), 0, -1), 0);
	report("kernel-side", attempt(both, 0, -1), 0);
	report("other-task", attempt(CLOCK(), 1, -1), 0);
	report("cpu", attempt(both, -1, 0), 0);
	both.sample_type = PERF_SAMPLE_CALLCHAIN;
	report("callchain-kernel", attempt(both, 0, -1), 0);
}

static void samples(void)
{
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
	fields();
	ring();
	filter();
	return 0;
}
