/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features that this kernel offers this user, probed by using them. Versions and sysctls
 * alone do not decide: capabilities, security modules, seccomp and backports also matter.
 */
#include "perfevent.h"
#include "perfevent/attr/complain.h"
#include "perfevent/machine/kernel.h"
#include "perfevent/open/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* The table of features to probe, and helpers for the trials. */

/* The highest kernel.perf_event_paranoid at which a user without capabilities may use it. */
enum {
	PEV_LEVEL_ANY = 2,             /* own task, user space */
	PEV_LEVEL_KERNEL = 1,
	PEV_LEVEL_CPU = 0,
	PEV_LEVEL_RAW = -1,
	PEV_LEVEL_NEVER = -9,          /* capabilities only */
};

struct pev_trial {
	struct pev_error err;
	bool partial;
	int64_t tracepoint;            /* id used by the trials, or -errno */
	const char *remark;            /* detail of how it works, or NULL; a constant */
};

struct pev_feature_field {
	const char *name;              /* of the attr, or NULL: the end */
	uint64_t value;
};

struct pev_feature_row {
	const char *name, *group, *what;
	int level;
	const char *capability;        /* the one required at PEV_LEVEL_NEVER */
	/* returns 0 or -errno, with t->err */
	int (*probe)(struct pev_trial *t, const struct pev_feature_row *row);
	struct pev_feature_field fields[4];   /* that the trial sets */
};


/* ---- rows ------------------------------------------------------------------------------- */

/* The table of trials. Each trial is as small as the feature allows. */

#if defined(__x86_64__)
#define SOME_REGS (1ull << 8 | 1ull << 7)   /* IP, SP */
#elif defined(__aarch64__)
#define SOME_REGS (1ull << 32 | 1ull << 31)
#else
#define SOME_REGS 1ull
#endif

static struct perf_event_attr *begin(union pev_attr_buf *buf, uint32_t type, uint64_t config)
{
	pev_attr_buf_init(buf, type, config);
	buf->attr.disabled = 1;
	return &buf->attr;
}

/* The row's fields. */
static void set_fields(union pev_attr_buf *buf, const struct pev_feature_row *row)
{
	for (const struct pev_feature_field *f = row->fields; f->name; f++)
		pev_attr_set(buf, f->name, f->value);
}

/* Opens and closes an event. */
static int try_event(struct pev_trial *t, const union pev_attr_buf *buf, struct pev_target target)
{
	struct pev_event *ev;
	int rc = pev_event_open(&ev, &buf->attr, target, NULL, &t->err);

	if (!rc)
		pev_event_close(ev);
	return rc;
}

/* Opens and closes an event; if the kernel's part is refused, with user space only: t->partial. */
static int try_levels(struct pev_trial *t, const union pev_attr_buf *buf, struct pev_target target)
{
	union pev_attr_buf user = *buf;
	struct pev_error first;
	int rc = try_event(t, buf, target);

	if (rc != -EACCES && rc != -EPERM)
		return rc;
	first = t->err;
	user.attr.exclude_kernel = user.attr.exclude_hv = 1;
	rc = try_event(t, &user, target);
	/* an error other than permission, such as a missing counter, is the better reason */
	if (rc && rc != -EACCES && rc != -EPERM)
		return rc;
	t->partial = !rc;
	t->err = first;
	return rc;
}

/* A clock for user space of the calling task: permitted to everybody. */
static void begin_clock(union pev_attr_buf *buf, const struct pev_feature_row *row)
{
	struct perf_event_attr *a = begin(buf, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	a->sample_period = 1000000;
	a->exclude_kernel = a->exclude_hv = 1;
	set_fields(buf, row);
}

static int on_clock(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;

	begin_clock(&buf, row);
	return try_event(t, &buf, pev_target_self());
}

/* ---- events ---------------------------------------------------------------------------- */

static int on_counter(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;

	begin(&buf, PERF_TYPE_SOFTWARE, 0);
	set_fields(&buf, row);
	return try_levels(t, &buf, pev_target_self());
}

static int on_tracefs(struct pev_trial *t, const struct pev_feature_row *row)
{
	int64_t id = pev_tracepoint_id("sched", "sched_switch", &t->err);

	return id < 0 ? (int)id : 0;
}

static int begin_tracepoint(struct pev_trial *t, union pev_attr_buf *buf, const struct pev_feature_row *row)
{
	if (t->tracepoint < 0)
		return pev_refuse_(&t->err, ENOENT, "find a tracepoint", "the kernel has no tracepoints",
				   "it must be built with CONFIG_EVENT_TRACING");
	begin(buf, PERF_TYPE_TRACEPOINT, (uint64_t)t->tracepoint);
	set_fields(buf, row);
	return 0;
}

static int on_tracepoint(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;
	int rc = begin_tracepoint(t, &buf, row);

	return rc ? rc : try_event(t, &buf, pev_target_self());
}

static int breakpoint(struct pev_trial *t, uint32_t type, const void *addr)
{
	struct perf_event_attr attr;
	union pev_attr_buf buf;

	pev_attr_breakpoint(&attr, type, (uint64_t)(uintptr_t)addr, 0, NULL);
	pev_attr_buf_copy(&buf, &attr);
	buf.attr.disabled = 1;
	return try_levels(t, &buf, pev_target_self());
}

static int on_breakpoint(struct pev_trial *t, const struct pev_feature_row *row)
{
	uint64_t word = 0;

	return breakpoint(t, HW_BREAKPOINT_W, &word);
}

static int on_exec_breakpoint(struct pev_trial *t, const struct pev_feature_row *row)
{
	return breakpoint(t, HW_BREAKPOINT_X, (const void *)on_exec_breakpoint);
}

/* The "field" of the rows of probes: whether it is at the function's return. */
#define AT_RETURN { { "return", 1 } }

static int on_kprobe(struct pev_trial *t, const struct pev_feature_row *row)
{
	struct perf_event_attr attr;
	union pev_attr_buf buf;
	int rc = pev_attr_kprobe(&attr, "vfs_read", 0, row->fields->value, &t->err);

	if (rc)
		return rc;
	pev_attr_buf_copy(&buf, &attr);
	return try_event(t, &buf, pev_target_self());
}

/* File and offset of a function of this library. */
static bool find_mapping(const void *function, char *path, uint64_t *offset)
{
	uint64_t addr = (uint64_t)(uintptr_t)function, from, to, at;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095[^\n]", &from, &to,
			   &at, path) < 3)
			continue;
		found = addr >= from && addr < to && path[0] == '/';
		*offset = at + (addr - from);
	}
	if (maps)
		fclose(maps);
	return found;
}

static int on_uprobe(struct pev_trial *t, const struct pev_feature_row *row)
{
	struct perf_event_attr attr;
	union pev_attr_buf buf;
	char path[PATH_MAX];
	uint64_t offset;
	int rc;

	if (!find_mapping((const void *)find_mapping, path, &offset))
		return pev_refuse_(&t->err, ENOENT, "find a function of this program", "/proc/self/maps does not list it", "");
	rc = pev_attr_uprobe(&attr, path, offset, 0, row->fields->value, &t->err);
	if (rc)
		return rc;
	pev_attr_buf_copy(&buf, &attr);
	buf.attr.disabled = 1;
	return try_event(t, &buf, pev_target_self());
}

static int on_msr(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;
	uint32_t type;
	int rc = pev_pmu_lookup_type("msr", &type);

	if (rc)
		return pev_refuse_(&t->err, -rc, "the PMU \"msr\"", "this machine has no such PMU",
				   "only x86 has it, if the CPU supports it");
	begin(&buf, type, 0);
	return try_event(t, &buf, pev_target_self());
}

/* ---- targets ------------------------------------------------------------------------------ */

static int on_other_task(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;

	begin_clock(&buf, row);
	return try_event(t, &buf, pev_target_thread(1));
}

static int on_cpu(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;

	begin_clock(&buf, row);
	return try_event(t, &buf, pev_target_cpu(0));
}

/* Mount point of the cgroup hierarchy that perf uses: v1's perf_event, else v2. */
static bool find_cgroups(char *dir, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent m;
	char text[PEV_MOUNT_TEXT_];
	bool found = false, v1 = false;

	while (mounts && !v1 && getmntent_r(mounts, &m, text, sizeof(text))) {
		v1 = !strcmp(m.mnt_type, "cgroup") && hasmntopt(&m, "perf_event");
		if (!v1 && (found || strcmp(m.mnt_type, "cgroup2")))
			continue;
		found = true;
		snprintf(dir, size, "%s", m.mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* The root of the hierarchy: contains every task. */
static int open_cgroup(void)
{
	char dir[PATH_MAX];

	return find_cgroups(dir, sizeof(dir)) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static int on_cgroup(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;
	int fd = open_cgroup(), rc;

	if (fd < 0)
		return pev_refuse_(&t->err, ENOENT, "open the root of the control groups",
				   "no cgroup v2, and no v1 with perf_event, is mounted",
				   "as root: mount -t cgroup2 none /sys/fs/cgroup");
	begin(&buf, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	rc = try_event(t, &buf, pev_target_cgroup(fd, 0));
	close(fd);
	return rc;
}

static int on_aux(struct pev_trial *t, const struct pev_feature_row *row)
{
	static const char *const pmus[] = { "intel_pt", "arm_spe_0", "cs_etm", "intel_bts" };
	union pev_attr_buf buf;
	uint32_t type;

	for (size_t i = 0; i < sizeof(pmus) / sizeof(*pmus); i++)
		if (!pev_pmu_lookup_type(pmus[i], &type)) {
			begin(&buf, type, 0)->exclude_kernel = 1;
			return try_event(t, &buf, pev_target_self());
		}
	return pev_refuse_(&t->err, ENOENT, "a PMU that writes an AUX area",
			   "this machine has none of intel_pt, arm_spe, cs_etm, intel_bts",
			   "needs a CPU with one of them; most virtual machines hide it");
}

/* ---- rings and controls --------------------------------------------------------------------------- */

static int on_ring(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;
	struct pev_event *ev;
	struct pev_ring *ring;
	int rc;

	begin_clock(&buf, row);
	rc = pev_event_open(&ev, &buf.attr, pev_target_self(), NULL, &t->err);
	if (rc)
		return rc;
	rc = pev_ring_map(&ring, ev, 0, &t->err);
	if (!rc)
		pev_ring_unmap(ring);
	pev_event_close(ev);
	return rc;
}

static int on_filter(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;
	struct pev_event *ev;
	int rc = begin_tracepoint(t, &buf, row);

	if (!rc)
		rc = pev_event_open(&ev, &buf.attr, pev_target_self(), NULL, &t->err);
	if (rc)
		return rc;
	rc = pev_event_set_filter(ev, "common_pid > 1", &t->err);
	pev_event_close(ev);
	return rc;
}

/* The remark: how the counter is read (see selfrace.c). */
static int has_user_read(struct pev_trial *t, struct pev_event *ev)
{
	struct pev_self *self;
	int rc = pev_self_map(&self, ev);

	if (rc)
		return rc;
	rc = pev_self_fast(self) ? 0 : -EOPNOTSUPP;
	t->remark = pev_self_why(self);
	pev_self_unmap(self);
	if (!rc)
		return 0;
	return pev_refuse_(&t->err, EOPNOTSUPP, "read a counter without a system call", t->remark,
			   "x86: echo 1 > /sys/bus/event_source/devices/cpu/rdpmc, unless a hypervisor traps it; arm64: "
			   "sysctl kernel.perf_user_access=1; reads by read(2) go on working");
}

static int on_user_read(struct pev_trial *t, const struct pev_feature_row *row)
{
	union pev_attr_buf buf;
	struct perf_event_attr *a = begin(&buf, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct pev_event *ev;
	int rc;

	a->exclude_kernel = a->exclude_hv = 1;
	a->disabled = 0;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
#ifdef __aarch64__
	a->config1 = 3;   /* readable in user space, 64 bits. Linux 5.17 */
#endif
	rc = pev_event_open(&ev, a, pev_target_self(), NULL, &t->err);
	if (rc)
		return rc;
	rc = has_user_read(t, ev);
	pev_event_close(ev);
	return rc;
}

#define ANY PEV_LEVEL_ANY, NULL
#define KERNEL PEV_LEVEL_KERNEL, NULL

static const struct pev_feature_row feature_rows[] = {
	{ "software", "events", "software events for your own task", KERNEL, on_counter,
	  { { "type", PERF_TYPE_SOFTWARE }, { "config", PERF_COUNT_SW_TASK_CLOCK } } },
	{ "hardware", "events", "hardware events: cycles, instructions", KERNEL, on_counter,
	  { { "type", PERF_TYPE_HARDWARE }, { "config", PERF_COUNT_HW_CPU_CYCLES } } },
	{ "cache", "events", "hardware cache events", KERNEL, on_counter,
	  { { "type", PERF_TYPE_HW_CACHE }, { "config", PERF_COUNT_HW_CACHE_L1D } } },
	{ "tracefs", "events", "names, ids and formats of tracepoints", PEV_LEVEL_NEVER, "CAP_DAC_READ_SEARCH",
	  on_tracefs },
	{ "tracepoint", "events", "tracepoints for your own task", KERNEL, on_tracepoint },
	{ "breakpoint", "events", "breakpoints on data of your own task", KERNEL, on_breakpoint },
	{ "breakpoint-exec", "events", "breakpoints on instructions", KERNEL, on_exec_breakpoint },
	{ "kprobe", "events", "probes at kernel functions", PEV_LEVEL_NEVER, NULL, on_kprobe },
	{ "kretprobe", "events", "probes at returns of kernel functions", PEV_LEVEL_NEVER, NULL, on_kprobe,
	  AT_RETURN },
	{ "uprobe", "events", "probes at user functions", PEV_LEVEL_NEVER, "CAP_SYS_ADMIN", on_uprobe },
	{ "uretprobe", "events", "probes at returns of user functions", PEV_LEVEL_NEVER, "CAP_SYS_ADMIN", on_uprobe,
	  AT_RETURN },
	{ "bpf-output", "events", "output of BPF programs", KERNEL, on_counter,
	  { { "type", PERF_TYPE_SOFTWARE }, { "config", PERF_COUNT_SW_BPF_OUTPUT } } },
	{ "cgroup-switches", "events", "switches between control groups; Linux 5.13", KERNEL, on_counter,
	  { { "type", PERF_TYPE_SOFTWARE }, { "config", PERF_COUNT_SW_CGROUP_SWITCHES } } },
	{ "msr", "events", "time stamp counter and the like, x86", KERNEL, on_msr },
	{ "user-side", "targets", "your own task in user space", ANY, on_clock },
	{ "kernel-side", "targets", "your own task in the kernel", KERNEL, on_clock,
	  { { "exclude_kernel", 0 } } },
	{ "other-task", "targets", "a task of root (pid 1)", PEV_LEVEL_NEVER, NULL, on_other_task },
	{ "cpu", "targets", "all tasks on a CPU", PEV_LEVEL_CPU, NULL, on_cpu, { { "exclude_kernel", 0 } } },
	{ "cgroup", "targets", "all tasks of a control group", PEV_LEVEL_CPU, NULL, on_cgroup },
	{ "callchain-user", "samples", "call chains in user space", ANY, on_clock,
	  { { "sample_type", PERF_SAMPLE_CALLCHAIN } } },
	{ "callchain-kernel", "samples", "call chains in the kernel", KERNEL, on_clock,
	  { { "sample_type", PERF_SAMPLE_CALLCHAIN }, { "exclude_kernel", 0 } } },
	{ "stack-user", "samples", "registers and stack, for unwinding by DWARF", ANY, on_clock,
	  { { "sample_type", PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER }, { "sample_regs_user", SOME_REGS },
	    { "sample_stack_user", 8192 } } },
	{ "regs-intr", "samples", "registers at the interrupt", ANY, on_clock,
	  { { "sample_type", PERF_SAMPLE_REGS_INTR }, { "sample_regs_intr", SOME_REGS } } },
	{ "phys-addr", "samples", "physical addresses; Linux 4.14", KERNEL, on_clock,
	  { { "sample_type", PERF_SAMPLE_PHYS_ADDR } } },
	{ "sample-cgroup", "samples", "ids of control groups; Linux 5.7", ANY, on_clock,
	  { { "sample_type", PERF_SAMPLE_CGROUP } } },
	{ "page-sizes", "samples", "page sizes of data and code; Linux 5.11", ANY, on_clock,
	  { { "sample_type", PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE } } },
	{ "weight-struct", "samples", "several weights per sample; Linux 5.12", ANY, on_clock,
	  { { "sample_type", PERF_SAMPLE_WEIGHT_STRUCT } } },
	/* RAW is allowed at a lower privilege for one's own task than for a whole CPU */
	{ "tracepoint-raw", "samples", "the fields of tracepoints", PEV_LEVEL_RAW, NULL, on_tracepoint,
	  { { "sample_type", PERF_SAMPLE_RAW }, { "sample_period", 1 } } },
	{ "branch-stack", "samples", "recent branches of the CPU (such as LBR)", ANY, on_clock,
	  { { "type", PERF_TYPE_HARDWARE }, { "sample_type", PERF_SAMPLE_BRANCH_STACK },
	    { "branch_sample_type", PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY } } },
	{ "precise", "samples", "instruction addresses without skid", ANY, on_clock,
	  { { "type", PERF_TYPE_HARDWARE }, { "precise_ip", 2 } } },
	{ "aux", "samples", "instruction traces (AUX area)", KERNEL, on_aux },
	{ "clockid", "attr", "time stamps of a chosen clock; Linux 4.1", ANY, on_clock,
	  { { "use_clockid", 1 }, { "clockid", CLOCK_MONOTONIC } } },
	{ "context-switch", "attr", "SWITCH records; Linux 4.3", ANY, on_clock, { { "context_switch", 1 } } },
	{ "write-backward", "attr", "overwritten rings; Linux 4.7", ANY, on_clock,
	  { { "write_backward", 1 } } },
	{ "namespaces", "attr", "NAMESPACES records; Linux 4.12", PEV_LEVEL_NEVER, NULL, on_clock,
	  { { "namespaces", 1 } } },
	{ "ksymbol", "attr", "KSYMBOL records; Linux 5.1", ANY, on_clock, { { "ksymbol", 1 } } },
	{ "bpf-event", "attr", "BPF_EVENT records; Linux 5.1", ANY, on_clock, { { "bpf_event", 1 } } },
	{ "cgroup-records", "attr", "CGROUP records; Linux 5.7", ANY, on_clock, { { "cgroup", 1 } } },
	{ "text-poke", "attr", "TEXT_POKE records; Linux 5.9", ANY, on_clock, { { "text_poke", 1 } } },
	{ "build-id", "attr", "build ids in MMAP2 records; Linux 5.12", ANY, on_clock,
	  { { "build_id", 1 } } },
	{ "inherit-thread", "attr", "inheritance by threads only; Linux 5.13", ANY, on_clock,
	  { { "inherit", 1 }, { "inherit_thread", 1 } } },
	{ "remove-on-exec", "attr", "events that end at exec; Linux 5.13", ANY, on_clock,
	  { { "remove_on_exec", 1 } } },
	{ "sigtrap", "attr", "a synchronous signal at each overflow; Linux 5.13", ANY, on_clock,
	  { { "sigtrap", 1 }, { "remove_on_exec", 1 } } },
	{ "format-lost", "attr", "lost samples counted by read(2); Linux 6.0", ANY, on_clock,
	  { { "read_format", PEV_FORMAT_LOST } } },
	/* fields that only PMUs read: known if the value is refused for another reason than E2BIG */
	{ "config3", "attr", "attr.config3; Linux 6.3", ANY, on_clock, { { "config3", 1 } } },
	{ "inherit-read", "attr", "group counts in samples of inherited events; Linux 6.13", ANY, on_clock,
	  { { "inherit", 1 }, { "sample_type", PERF_SAMPLE_READ | PERF_SAMPLE_TID },
	    { "read_format", PERF_FORMAT_GROUP | PERF_FORMAT_ID } } },
	{ "defer-callchain", "attr", "deferred user call chains; Linux 6.19", ANY, on_clock,
	  { { "defer_callchain", 1 } } },
	{ "config4", "attr", "attr.config4; Linux 6.19", ANY, on_clock, { { "config4", 1 } } },
	{ "ring", "controls", "a ring of 128 pages", ANY, on_ring },
	{ "filter", "controls", "filters of tracepoints", KERNEL, on_filter },
	{ "user-read", "controls", "counters read without a system call", ANY, on_user_read },
};
enum { NROWS = sizeof(feature_rows) / sizeof(*feature_rows) };

struct found {
	struct pev_feature pub;
	char said[256], remedy[512];
};

struct pev_features {
	size_t n;
	struct found rows[];
};

/* ---- a tracepoint for the trials --------------------------------------------------- */

#define FIRST_ID 20      /* the first ids are ftrace's own, with special rules */
#define LAST_ID 4096

/* Without tracefs, ids can be guessed: an unknown one gives EINVAL. */
static int64_t guess_tracepoint(void)
{
	union pev_attr_buf buf;

	for (uint64_t id = FIRST_ID; id < LAST_ID; id++) {
		struct pev_event *ev;
		int rc;

		pev_attr_buf_init(&buf, PERF_TYPE_TRACEPOINT, id);
		/* err NULL: no search for the reason */
		rc = pev_event_open(&ev, &buf.attr, pev_target_self(), NULL, NULL);
		if (!rc)
			pev_event_close(ev);
		if (rc != -EINVAL && rc != -ENOENT)
			return (int64_t)id;
	}
	return -ENOENT;
}

static int64_t find_tracepoint(void)
{
	int64_t id = pev_tracepoint_id("sched", "sched_switch", NULL);

	return id >= 0 ? id : guess_tracepoint();
}

/* ---- remedies -------------------------------------------------------------------------- */

static const char *capability_of(const struct pev_feature_row *row)
{
	return row->capability ? row->capability : "CAP_PERFMON";
}

/* The row knows better than the errno which level of perf_event_paranoid is needed. */
static void set_remedy(struct found *f, const struct pev_feature_row *row,
		       const struct pev_trial *t)
{
	const char *group = strstr(t->err.remedy, "or let a group read it");   /* tracefs */
	int level;

	snprintf(f->remedy, sizeof(f->remedy), "%s", t->err.remedy);
	if ((f->pub.code != EACCES && f->pub.code != EPERM && !f->pub.partial) || pev_supported() ||
	    pev_paranoid(&level) ||
	    pev_explain_contained_(f->remedy, sizeof(f->remedy), capability_of(row), row->level))
		return;
	if (row->level == PEV_LEVEL_NEVER)
		snprintf(f->remedy, sizeof(f->remedy), "run as root (sudo), or with %s%s%.400s",
			 capability_of(row), group ? ", " : "", group ? group : "");
	else if (level > row->level)
		snprintf(f->remedy, sizeof(f->remedy), "kernel.perf_event_paranoid is %d: run as root "
			 "(sudo) or with %s, or, as root: sysctl kernel.perf_event_paranoid=%d", level,
			 capability_of(row), row->level);
}

static void probe(struct found *f, const struct pev_feature_row *row, int64_t tracepoint)
{
	struct pev_trial t = { .tracepoint = tracepoint };
	int rc = row->probe(&t, row);

	f->pub = (struct pev_feature){
		.name = row->name, .group = row->group, .what = row->what, .code = rc < 0 ? -rc : 0,
		.partial = t.partial, .said = f->said, .remedy = f->remedy,
	};
	if (!f->pub.code && !f->pub.partial) {
		snprintf(f->said, sizeof(f->said), "%s", t.remark ? t.remark : "");
		return;
	}
	if (!t.err.said[0])
		pev_say_errno_(&t.err, f->pub.code);
	snprintf(f->said, sizeof(f->said), "%s", t.err.said);
	set_remedy(f, row, &t);
}

/* A row opens at most four files at once: an event, and files in which to look something up. */
static int check_room(void)
{
	int fds[4], rc = 0;
	size_t n = 0;

	for (; n < sizeof(fds) / sizeof(*fds) && !rc; n++) {
		fds[n] = eventfd(0, EFD_CLOEXEC);
		if (fds[n] < 0)
			rc = -errno;
	}
	while (n-- > 0)
		if (fds[n] >= 0)
			close(fds[n]);
	return rc;
}

int pev_features_probe(struct pev_features **out)
{
	struct pev_features *all;
	int64_t tracepoint;
	int rc = check_room();

	*out = NULL;
	if (rc)
		return rc;
	all = calloc(1, sizeof(*all) + NROWS * sizeof(*all->rows));
	if (!all)
		return -ENOMEM;
	tracepoint = find_tracepoint();
	for (; all->n < NROWS; all->n++)
		probe(&all->rows[all->n], &feature_rows[all->n], tracepoint);
	*out = all;
	return 0;
}

void pev_features_free(struct pev_features *features)
{
	free(features);
}

const struct pev_feature *pev_features_at(const struct pev_features *features, size_t i)
{
	return i < features->n ? &features->rows[i].pub : NULL;
}

const struct pev_feature *pev_features_find(const struct pev_features *features, const char *name)
{
	for (size_t i = 0; i < features->n; i++)
		if (!strcmp(features->rows[i].pub.name, name))
			return &features->rows[i].pub;
	return NULL;
}
