/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/open/explain.h"

#include "base/textfile.h"
#include "perfevent/attr/attr_fields.h"
#include "perfevent/attr/complain.h"
#include "perfevent/machine/kernel.h"
#include "perfevent/open/target.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define remedy(err, ...) pev_advise_((err), __VA_ARGS__)

/* ---- one function per errno of the system call ------------------------------ */

/* The tracepoints of single system calls: TRACE_EVENT_FL_CAP_ANY, and the kernel counts them as events of user space. */
static bool is_of_syscall(const struct pev_event *ev)
{
	return ev->attr.type == PERF_TYPE_TRACEPOINT && !strncmp(pev_event_label(ev), "syscalls:", strlen("syscalls:"));
}

/* The highest kernel.perf_event_paranoid at which anyone may open the event. For tracepoints, kernel/trace/trace_event_perf.c,
 * perf_trace_event_perm(): raw data need -1, except those of a task's own system calls; a count is as that of other events. */
static int level_needed(const struct pev_event *ev)
{
	if (ev->attr.type == PERF_TYPE_TRACEPOINT && ev->attr.sample_type & PERF_SAMPLE_RAW &&
	    (ev->target.pid_ < 0 || !is_of_syscall(ev)))
		return -1;
	if (ev->target.pid_ < 0)
		return 0;
	return ev->attr.exclude_kernel ? 2 : 1;   /* Debian's level 3 refuses this, too */
}

/* Tracepoints other than those of system calls can be opened without the kernel, too, but count nothing then. Event lists
 * of commands that sample have no modifiers of tracepoints. */
static bool can_be_of_user(const struct pev_event *ev)
{
	if (ev->attr.type == PERF_TYPE_TRACEPOINT)
		return is_of_syscall(ev) && !ev->attr.sample_period;
	return !pev_is_of_kernel_alone_(&ev->attr);
}

/* Suggests what everybody may do before what needs an administrator. */
static void suggest_user_only(struct pev_error *err, const struct pev_event *ev)
{
	const char *label = pev_event_label(ev);
	char rest[sizeof(err->remedy)];
	bool plain = is_of_syscall(ev) || !strpbrk(label, ":/");
	int rc = can_be_of_user(ev) ? pev_open_user_only_(ev) : -ENOENT;

	snprintf(rest, sizeof(rest), "%s", err->remedy);
	if (rc == -EINVAL && ev->attr.type >= PERF_TYPE_MAX)
		remedy(err, "%.400s; user space only is not possible: this event source can only "
		       "count user space and the kernel together", rest);
	if (rc)
		return;
	remedy(err, "user space only needs no privilege: %.64s%s (or --exclude-kernel, exclude_kernel=1); "
	       "for the kernel, too: %.300s", plain ? label : "", plain ? ":u" : ":u after the "
	       "event", rest);
}

/* PROC_USER_INIT_INO of include/linux/proc_ns.h. */
static bool in_user_namespace(void)
{
	static const char initial[] = "user:[4026531837]";
	char link[64];
	ssize_t n = readlink("/proc/self/ns/user", link, sizeof(link));

	return n > 0 && ((size_t)n != strlen(initial) || memcmp(link, initial, (size_t)n) != 0);
}

bool pev_explain_contained_(char *buf, size_t size, const char *capability, int need)
{
	char level[64] = "";

	if (geteuid() != 0)
		return false;
	if (in_user_namespace()) {
		if (need >= -1)
			snprintf(level, sizeof(level), ", or set kernel.perf_event_paranoid=%d there", need);
		snprintf(buf, size, "this process is in a user namespace, and root there has no privilege over the machine: "
			 "run it as root outside of that namespace%s", level);
	} else {
		snprintf(buf, size, "a container or security module forbids it: give the process %s "
			 "and allow perf_event_open in its seccomp profile (docker: --cap-add %s "
			 "--security-opt seccomp=unconfined)", capability, capability + strlen("CAP_"));
	}
	return true;
}

static bool is_of_pmu(const struct pev_event *ev, const char *pmu)
{
	uint32_t type;

	return ev->attr.type >= PERF_TYPE_MAX && !pev_pmu_lookup_type(pmu, &type) && type == ev->attr.type;
}

static bool is_kprobe(const struct pev_event *ev)
{
	return ev->attr.kprobe_func && is_of_pmu(ev, "kprobe");
}

/* No level of kernel.perf_event_paranoid opens them. */
static bool explain_probe(struct pev_error *err, const struct pev_event *ev)
{
	if (is_of_pmu(ev, "uprobe"))
		remedy(err, "probes of programs need root (sudo) or CAP_SYS_ADMIN; older kernels take CAP_PERFMON, too");
	else if (is_of_pmu(ev, "kprobe"))
		remedy(err, "probes of the kernel need root (sudo) or CAP_PERFMON");
	else
		return false;
	return true;
}

/* The real user of a task; -1: not known. The owner of its files in /proc is root if it is not dumpable. A newline in its name
 * is escaped. */
static long user_of(pid_t pid)
{
	char path[64], status[2048];
	const char *line;
	unsigned int uid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	line = textfile_read(path, status, sizeof(status)) > 0 ? strstr(status, "\nUid:") : NULL;
	return line && sscanf(line, "\nUid: %u", &uid) == 1 ? (long)uid : -1;
}

static void explain_task(struct pev_error *err, pid_t pid)
{
	static const char allowed[] = "root (sudo), or give the program CAP_PERFMON (Linux 5.8)";
	const long uid = user_of(pid);
	struct passwd entry, *user = NULL;
	char buf[1024];

	if (uid < 0)
		remedy(err, "task %d belongs to another user, or is not dumpable: run as its user or as %s", (int)pid, allowed);
	else if (uid == (long)geteuid())
		remedy(err, "task %d is not dumpable: this user may not read its program, its program is set-user-ID or has "
		       "capabilities, or it called prctl(PR_SET_DUMPABLE, 0): run as %s", (int)pid, allowed);
	else if (!getpwuid_r((uid_t)uid, &entry, buf, sizeof(buf), &user) && user)
		remedy(err, "task %d belongs to %s: run as that user or as %s", (int)pid, user->pw_name, allowed);
	else
		remedy(err, "task %d belongs to user %ld: run as that user or as %s", (int)pid, uid, allowed);
}

static void on_access(struct pev_error *err, const struct pev_event *ev)
{
	int level, need = level_needed(ev), unknown = pev_paranoid(&level);
	char text[sizeof(err->remedy)];

	if (pev_is_others_task_(ev)) {
		explain_task(err, ev->target.pid_);
		return;
	}
	if (pev_explain_contained_(text, sizeof(text), "CAP_PERFMON", need)) {
		remedy(err, "%s", text);
		return;
	}
	if (explain_probe(err, ev))
		return;
	if (unknown)
		remedy(err, "run as root (sudo), give the program CAP_PERFMON, or, as root: "
		       "sysctl kernel.perf_event_paranoid=%d", need);
	else
		remedy(err, "kernel.perf_event_paranoid is %d: run as root (sudo), give the program "
		       "CAP_PERFMON, or, as root: sysctl kernel.perf_event_paranoid=%d", level, need);
	suggest_user_only(err, ev);
}

static void on_perm(struct pev_error *err, const struct pev_event *ev)
{
	if (pev_supported()) {
		remedy(err, "a seccomp filter refuses perf_event_open altogether, as containers do: "
		       "allow it there (docker: --security-opt seccomp=unconfined --cap-add PERFMON)");
		return;
	}
	on_access(err, ev);
}

/* Tries an event that everybody may open. */
bool pev_has_pmu_(void)
{
	return pev_try_plain_(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) != -ENOENT;
}

static void no_counter(struct pev_error *err)
{
	if (pev_has_pmu_())
		remedy(err, "this machine's CPU counts other events, not this one: `perf-prof list hardware "
		       "cache` shows which open");
	else
		remedy(err, "this machine has no such hardware counter (virtual machines often have "
		       "none): use a software event such as cpu-clock");
}

/* The kernel checks privilege before it looks for the counter, so a refusal may hide that there is none. Tried with what needs
 * the least privilege. */
bool pev_lacks_counter_(const struct pev_event *ev)
{
	const uint32_t type = ev->attr.type;

	return (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW) &&
	       pev_try_plain_(type, ev->attr.config) == -ENOENT;
}

static void on_noent(struct pev_error *err, const struct pev_event *ev)
{
	char culprit[256];

	if (pev_blame_(ev, ENOENT, culprit, sizeof(culprit)))
		remedy(err, "the kernel refuses %s", culprit);
	else if (ev->target.kind_ == TARGET_CGROUP && !pev_lacks_counter_(ev))
		remedy(err, "perf events cannot watch this control group: its hierarchy has no perf_event. Those of "
		       "cgroup v2 have it, unless one of version 1 was mounted with perf_event; then take its groups");
	else if (is_kprobe(ev))
		remedy(err, "the kernel has no function \"%.100s\", or does not allow probing it: "
		       "/proc/kallsyms has the names", (const char *)(uintptr_t)ev->attr.kprobe_func);
	else if (ev->attr.type == PERF_TYPE_HARDWARE || ev->attr.type == PERF_TYPE_HW_CACHE ||
		 ev->attr.type == PERF_TYPE_RAW)
		no_counter(err);
	else
		remedy(err, "no event source of this kernel knows it: `perf-prof list` shows the "
		       "events");
}

static void on_nodev(struct pev_error *err, const struct pev_event *ev)
{
	if (ev->target.cpu_ >= 0)
		remedy(err, "CPU %d is offline or does not exist (see "
		       "/sys/devices/system/cpu/online), or lacks this counter", ev->target.cpu_);
	else
		remedy(err, "the counter does not exist on this machine");
}

/* EINVAL is also the error for a CPU number that is too large. */
static bool no_such_cpu(int cpu)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	return cpu >= 0 && access("/sys/devices/system/cpu", F_OK) == 0 && access(path, F_OK);
}

static void on_inval(struct pev_error *err, const struct pev_event *ev)
{
	char culprit[256];

	if (pev_target_args(ev->target, &(pid_t){ 0 }, &(int){ 0 }, &(unsigned long){ 0 }))
		remedy(err, "the target is invalid: thread ids and CPU numbers are 0 or more, and pev_target_cpu() "
		       "makes that of all tasks of a CPU");
	else if (no_such_cpu(ev->target.cpu_))
		on_nodev(err, ev);
	else if (ev->attr.type == PERF_TYPE_HW_CACHE && pev_try_plain_(PERF_TYPE_HW_CACHE, ev->attr.config) == -EINVAL)
		no_counter(err);   /* also the error for some combinations of cache, operation and result */
	else if (pev_blame_(ev, EINVAL, culprit, sizeof(culprit)))
		remedy(err, "the kernel refuses %s", culprit);
	else
		remedy(err, "the kernel refuses this combination of attributes and target");
}

static void on_mfile(struct pev_error *err, const struct pev_event *ev)
{
	struct rlimit rl = {0};

	getrlimit(RLIMIT_NOFILE, &rl);
	remedy(err, "the limit of %llu open files is reached (one per event, task and CPU): raise it "
	       "with ulimit -n, or watch fewer events, tasks or CPUs",
	       (unsigned long long)rl.rlim_cur);
}

static void on_nospc(struct pev_error *err, const struct pev_event *ev)
{
	if (ev->attr.type == PERF_TYPE_BREAKPOINT)
		remedy(err, "all hardware breakpoint registers are taken: close another breakpoint");
	else
		remedy(err, "the counters are taken: close other events, or shorten the group");
}

static void on_opnotsupp(struct pev_error *err, const struct pev_event *ev)
{
	char culprit[256];

	if (pev_blame_(ev, EOPNOTSUPP, culprit, sizeof(culprit)))
		remedy(err, "this hardware or event does not support %s: leave it out", culprit);
	else
		remedy(err, "this hardware has no interrupt for that event: count it, don't sample it");
}

static void on_overflow(struct pev_error *err, const struct pev_event *ev)
{
	remedy(err, "sample_max_stack %u is above kernel.perf_event_max_stack %d: ask for less, or, as "
	       "root, with no call chain being sampled: sysctl kernel.perf_event_max_stack=%u",
	       ev->attr.sample_max_stack, pev_max_stack(), ev->attr.sample_max_stack);
}

static void on_srch(struct pev_error *err, const struct pev_event *ev)
{
	remedy(err, "thread %d does not exist, or has ended meanwhile", (int)ev->target.pid_);
}

static void on_badf(struct pev_error *err, const struct pev_event *ev)
{
	if (ev->target.kind_ == TARGET_CGROUP)
		remedy(err, "the descriptor is not that of a control group's folder: open one "
		       "below /sys/fs/cgroup");
	else
		remedy(err, "the group's leader (group_fd) is no open event");
}

static void on_toobig(struct pev_error *err, const struct pev_event *ev)
{
	char culprit[256];

	if (ev->attr.size < PERF_ATTR_SIZE_VER0 || ev->attr.size > PEV_ATTR_SIZE_MAX)
		remedy(err, "size = %u: expected %d to %d bytes of attr, or more if the rest is "
		       "zero", ev->attr.size, PERF_ATTR_SIZE_VER0, PEV_ATTR_SIZE_MAX);
	else if (pev_opens_alone_(ev))
		remedy(err, "read(2) of this group would return 16 KiB or more: use shorter "
		       "groups, or fewer bits of read_format");
	else if (pev_blame_(ev, E2BIG, culprit, sizeof(culprit)))
		remedy(err, "this kernel does not know %s: leave it out", culprit);
	else
		remedy(err, "the attributes are from a newer kernel than this one");
}

/* The errnos whose remedy depends on nothing have it here. */
static const struct {
	int code;
	void (*explain)(struct pev_error *err, const struct pev_event *ev);
	const char *remedy;
} open_errors[] = {
	{ EACCES, on_access }, { EPERM, on_perm }, { ENOENT, on_noent }, { EINVAL, on_inval },
	{ E2BIG, on_toobig }, { EMFILE, on_mfile }, { ENODEV, on_nodev }, { ENXIO, on_nodev },
	{ ENOSPC, on_nospc }, { EOPNOTSUPP, on_opnotsupp }, { EOVERFLOW, on_overflow },
	{ ESRCH, on_srch }, { EBADF, on_badf },
	{ ENFILE, NULL, "the whole system is out of file descriptors: raise sysctl fs.file-max" },
	{ ENOMEM, NULL, "the kernel has no memory for it: watch fewer events, or use smaller rings" },
	{ ENOSYS, NULL, "the kernel was built without CONFIG_PERF_EVENTS, or a sandbox hides the call" },
	{ EBUSY, NULL, "another user of the counter has it exclusively (an exclusive event, or the "
	  "NMI watchdog: sysctl kernel.nmi_watchdog=0)" },
};

int pev_explain_open(struct pev_error *err, const struct pev_event *ev, int code)
{
	char target[64];

	if (!err)
		return -code;
	pev_target_text(ev->target, target, sizeof(target));
	pev_ask_(err, code, "open %s on %s", pev_event_label(ev), target);
	pev_say_errno_(err, code);
	for (size_t i = 0; i < sizeof(open_errors) / sizeof(*open_errors); i++)
		if (open_errors[i].code == code && open_errors[i].explain)
			open_errors[i].explain(err, ev);
		else if (open_errors[i].code == code)
			remedy(err, "%s", open_errors[i].remedy);
	if (!err->remedy[0])
		remedy(err, "see perf_event_open(2)");
	return -code;
}

/* ---- rings --------------------------------------------------------------------- */

int pev_explain_map(struct pev_error *err, const struct pev_event *ev, unsigned int pages, int code)
{
	struct rlimit rl = {0};
	long long kb = 0;

	if (!err)
		return -code;
	pev_ask_(err, code, "map a ring of %u pages for %s", pages, pev_event_label(ev));
	pev_say_errno_(err, code);
	getrlimit(RLIMIT_MEMLOCK, &rl);
	pev_sysctl_("perf_event_mlock_kb", &kb);
	if (pages & (pages - 1))
		remedy(err, "%u is not a power of two", pages);
	else if (code == EPERM)
		remedy(err, "over the limits on locked memory: kernel.perf_event_mlock_kb is %lld KiB per "
		       "user and CPU, ulimit -l is %llu KiB; use smaller rings, raise one of them, or "
		       "run with CAP_IPC_LOCK", kb, (unsigned long long)rl.rlim_cur >> 10);
	else if (code == ENOMEM)
		remedy(err, "the kernel has no memory for a ring of that size: use a smaller one");
	else if (code == EBUSY)
		remedy(err, "the event already has a ring: unmap it first");
	else if (code == EINVAL && ev->attr.inherit && ev->target.cpu_ < 0)
		remedy(err, "the kernel maps no ring for an inherited event on any CPU (cpu -1): open one "
		       "per CPU, or clear inherit");
	else
		remedy(err, "the kernel gives this event no ring of that size: try another size, "
		       "or unmap the ring that it has");
	return -code;
}

int pev_explain_output_(struct pev_error *err, const struct pev_event *ev,
			const struct pev_event *to, int code)
{
	if (!err)
		return -code;
	pev_ask_(err, code, "send the records of %s into the ring of %s",
		 pev_event_label(ev), pev_event_label(to));
	pev_say_errno_(err, code);
	if (code == EINVAL && !to->has_ring)
		remedy(err, "%s has no ring yet: map one first", pev_event_label(to));
	else if (code == EINVAL)
		remedy(err, "both must watch the same CPU or the same task, use the same clockid and "
		       "write_backward, and the first must have no ring of its own");
	return -code;
}

int pev_explain_aux_(struct pev_error *err, const struct pev_event *ev, unsigned int pages,
		     int code)
{
	if (!err)
		return -code;
	pev_ask_(err, code, "map an AUX area of %u pages for %s", pages,
		 pev_event_label(ev));
	pev_say_errno_(err, code);
	if (pages & (pages - 1))
		remedy(err, "%u is not a power of two", pages);
	else if (code == EOPNOTSUPP)
		remedy(err, "this event source writes none: intel_pt, arm_spe and cs_etm do");
	else if (code == EPERM)
		remedy(err, "over the limits on locked memory: use a smaller area, raise "
		       "kernel.perf_event_mlock_kb or ulimit -l, or run with CAP_IPC_LOCK");
	else
		remedy(err, "see perf_event_open(2), aux_offset");
	return -code;
}

/* ---- filters --------------------------------------------------------------------- */

/* sys and name of a tracepoint from its label; false if it has another form. */
static bool split_label(const struct pev_event *ev, char *sys, char *name, size_t size)
{
	const char *colon = strchr(pev_event_label(ev), ':');

	if (ev->attr.type != PERF_TYPE_TRACEPOINT || !colon || strchr(pev_event_label(ev), '/'))
		return false;
	snprintf(sys, size, "%.*s", (int)(colon - pev_event_label(ev)), pev_event_label(ev));
	snprintf(name, size, "%s", colon + 1);
	return true;
}

/* "comm, pid, prio": the names in the "field:" declarations, after the last space. */
static void list_fields(const char *format, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (const char *p = format; (p = strstr(p, "field:")); p++) {
		const char *semi = strchr(p, ';'), *start, *end;

		if (!semi)
			break;
		end = memchr(p, '[', (size_t)(semi - p));
		/* "__data_loc char[] name": the brackets belong to the type */
		if (!end || memchr(end, ' ', (size_t)(semi - end)))
			end = semi;
		for (start = end; start > p && start[-1] != ' ' && start[-1] != '*'; start--)
			;
		if (!strncmp(start, "common_", 7))
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%.*s", n ? ", " : "",
				      (int)(end - start), start);
		if (n >= size)
			break;
	}
}

/*
 * The ioctl only returns EINVAL. The kernel's message is available by writing the filter to an
 * event in a temporary tracing instance (as root), without effect on others.
 */
static bool ask_kernel(const char *tracefs, const char *sys, const char *name, const char *filter,
		       char *said, size_t size)
{
	char dir[320], path[640];
	bool got = false;
	FILE *f;

	snprintf(dir, sizeof(dir), "%s/instances/perfevent.%d", tracefs, (int)getpid());
	if (mkdir(dir, 0700))
		return false;
	snprintf(path, sizeof(path), "%s/events/%s/%s/filter", dir, sys, name);
	f = fopen(path, "we");
	if (f) {
		fputs(filter, f);
		fclose(f);
		got = textfile_read(path, said, size) > 0 && strstr(said, "parse_error");
	}
	rmdir(dir);
	if (got && said[strlen(said) - 1] == '\n')
		said[strlen(said) - 1] = '\0';
	return got;
}

int pev_explain_filter(struct pev_error *err, const struct pev_event *ev, const char *filter, int code)
{
	char root[256], sys[96], name[96], path[512], format[16384], fields[320] = "";

	if (!err)
		return -code;
	pev_ask_(err, code, "set the filter \"%.150s\" on %s", filter ? filter : "",
		 pev_event_label(ev));
	pev_say_errno_(err, code);
	if (code == EEXIST) {
		remedy(err, "the kernel accepts only one filter per event: close it, open it again and "
		       "set the new one");
		return -code;
	}
	remedy(err, "expected something like pid > 1000 && comm ~ \"java*\"");
	if (!split_label(ev, sys, name, sizeof(sys)) || pev_tracefs_path(root, sizeof(root), NULL))
		return -code;
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, sys, name);
	if (textfile_read(path, format, sizeof(format)) <= 0)
		return -code;
	if (filter && !ask_kernel(root, sys, name, filter, err->said, sizeof(err->said)))
		pev_say_errno_(err, code);
	list_fields(format, fields, sizeof(fields));
	remedy(err, "the event's fields are: %s; and common_pid, common_type, common_flags", fields);
	return -code;
}
