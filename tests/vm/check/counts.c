/* SPDX-License-Identifier: Apache-2.0 */
/* Counts that have to be exact, of this task, its children, its cgroup. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 1000, PAGES = 64, CHILDREN = 3 };

static void kernel_facts(void)
{
	int level = -100, supported = pev_supported(), depth = pev_max_stack();
	int rc = pev_paranoid(&level);

	works_if(!supported && !rc && level >= -1 && level <= 4 && depth > 0,
		 "the system call and its sysctls; expected all there, seen supported %d, "
		 "paranoid %d, max_stack %d", supported, level, depth);
}

/* ---- software events ----------------------------------------------------------- */

static char *fresh;

static void touch_pages(void)
{
	long size = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < PAGES; i++)
		((volatile char *)fresh)[i * size] = 1;
}

static void page_faults(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE) * PAGES;
	struct perf_event_attr attr;
	uint64_t seen;

	pev_attr_software(&attr, "page-faults", NULL);
	fresh = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(fresh, size, MADV_NOHUGEPAGE);
	touch_pages();                          /* the code itself is there now */
	madvise(fresh, size, MADV_DONTNEED);
	if (!count_work(&seen, &attr, "touch 64 new pages", touch_pages))
		works_exactly("touch 64 new pages", PAGES, seen);
	munmap(fresh, size);
}

static uint64_t switched;      /* within the time that counts: at least so many */

static uint64_t switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static void nap(void)
{
	struct timespec t = { .tv_nsec = 500000 };

	switched = switches();
	for (int i = 0; i < 20; i++)
		nanosleep(&t, NULL);
	switched = switches() - switched;
}

static void context_switches(void)
{
	struct perf_event_attr attr;
	uint64_t seen, around = switches();
	int rc;

	pev_attr_software(&attr, "context-switches", NULL);
	rc = count_work(&seen, &attr, "sleep 20 times", nap);
	around = switches() - around;
	if (!rc)
		/* a sleep that is over before the task gets off the CPU is no switch */
		works_if(seen >= switched && seen <= around && seen >= 5,
			 "sleep 20 times; expected %llu to %llu, as getrusage says, seen %llu",
			 (unsigned long long)switched, (unsigned long long)around,
			 (unsigned long long)seen);
}

static uint64_t burnt;

static void burn_100ms(void)
{
	burnt = cpu_ns();
	burn(100000000);
	burnt = cpu_ns() - burnt;
}

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The event's time lies between what the thread's clock says inside and what passes around: what a
 * hypervisor steals is in the event's time, and in the thread's on no kernel that knows of it. A guest
 * that still calibrates its clock may need a second try. */
static void task_clock(void)
{
	struct perf_event_attr attr;
	uint64_t seen, around;
	bool good = false;

	pev_attr_software(&attr, "task-clock", NULL);
	for (int tries = 0; tries < 3 && !good; tries++) {
		around = wall_ns();
		if (count_work(&seen, &attr, "spin for 100 ms", burn_100ms))
			return;
		around = wall_ns() - around;
		good = (double)seen > (double)burnt * 0.99 && (double)seen < (double)around * 1.01;
	}
	works_if(good, "spin for 100 ms; expected %.3f to %.3f ms within 1 %%, as the thread's clock "
		 "and the wall's say, seen %.3f ms", (double)burnt * 1e-6, (double)around * 1e-6,
		 (double)seen * 1e-6);
}

/* ---- tracepoints --------------------------------------------------------------- */

static void thousand_calls(void)
{
	call_getppid(CALLS);
}

static void tracepoint(void)
{
	struct perf_event_attr attr;
	uint64_t seen;

	if (getppid_attr(&attr) && !count_work(&seen, &attr, "1000 getppid calls", thousand_calls))
		works_exactly("1000 getppid calls", CALLS, seen);
}

static void tracepoint_filter(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *ev;
	int rc = pev_attr_tracepoint(&attr, "syscalls", "sys_enter_dup2", &err);

	/* arm64 and riscv64 have only dup3 */
	if (rc)
		rc = pev_attr_tracepoint(&attr, "syscalls", "sys_enter_dup3", &err);
	if (rc) {
		failed_with("syscalls:sys_enter_dup3", rc, &err);
		return;
	}
	if (open_self(&ev, &attr, "dup"))
		return;
	rc = pev_event_set_filter(ev, "newfd == 77", &err);
	if (rc) {
		failed_with("filter newfd == 77", rc, &err);
	} else {
		for (int i = 0; i < 100; i++)
			dup2(1, 70 + i % 10);
		pev_event_read(ev, &count);
		works_exactly("100 dup2 calls, filter newfd == 77", 10, count.value);
	}
	for (int i = 70; i < 80; i++)
		close(i);
	pev_event_close(ev);
}

static void tracepoint_bad_filter(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	int rc;

	if (!getppid_attr(&attr) || open_self(&ev, &attr, "getppid"))
		return;
	rc = pev_event_set_filter(ev, "nonesuch == 1", &err);
	works_if(rc == -EINVAL && strstr(error_text(&err), "nonesuch") && strstr(error_text(&err), "__syscall_nr"),
		 "filter nonesuch == 1; expected an error that quotes it and names the fields, seen \"%s\"",
		 error_text(&err));
	pev_event_close(ev);
}

static void unknown_tracepoint(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	int rc = pev_attr_tracepoint(&attr, "sched", "nonesuch", &err);

	works_if(rc == -ENOENT && strstr(error_text(&err), "sched:nonesuch"),
		 "sched:nonesuch; expected an error that names it, seen \"%s\"", error_text(&err));
}

/* ---- other tasks --------------------------------------------------------------- */

static void fork_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid) {
			call_getppid(CALLS);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void inherit(void)
{
	struct perf_event_attr attr;
	uint64_t seen;

	if (!getppid_attr(&attr))
		return;
	attr.inherit = 1;
	if (!count_work(&seen, &attr, "3 children, 1000 calls each", fork_children))
		works_exactly("3 children, 1000 calls each", CHILDREN * CALLS, seen);
}

static void no_inherit(void)
{
	struct perf_event_attr attr;
	uint64_t seen;

	if (getppid_attr(&attr) && !count_work(&seen, &attr, "3 children", fork_children))
		works_exactly("3 children, inherit off", 0, seen);
}

static void *thread_calls(void *arg)
{
	(void)arg;
	call_getppid(CALLS);
	return NULL;
}

static void thread_and_child(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_calls, NULL);
	pthread_join(thread, NULL);
	fork_children();
}

static void inherit_thread(void)
{
	struct perf_event_attr attr;
	uint64_t seen;

	if (!kernel_has(5, 13)) {
		skip("needs Linux 5.13");
		return;
	}
	if (!getppid_attr(&attr))
		return;
	attr.inherit = attr.inherit_thread = 1;
	if (!count_work(&seen, &attr, "a thread and 3 children", thread_and_child))
		works_exactly("a thread and 3 children, 1000 calls each; only the thread counts",
			      CALLS, seen);
}

/* The child waits for a byte, then becomes this program anew. */
static void enable_on_exec(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count = { 0 };
	struct pev_event *ev;
	int gate[2], rc;
	pid_t pid;

	pev_attr_software(&attr, "task-clock", NULL);
	attr.disabled = attr.enable_on_exec = 1;
	if (pipe(gate)) {
		skip("no pipe: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (!pid) {
		char c;

		close(gate[1]);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 1);
		burn(50000000);
		if (read(gate[0], &c, 1) == 1)
			execl("/proc/self/exe", "check", "no such check", (char *)NULL);   /* ends at once */
		_exit(1);
	}
	close(gate[0]);
	rc = pev_event_open(&ev, &attr, pev_target_thread(pid), NULL, &err);
	if (write(gate[1], "x", 1) != 1 || rc) {
		failed_with("a child's task-clock", rc, &err);
		return;
	}
	close(gate[1]);
	waitpid(pid, NULL, 0);
	rc = pev_event_read(ev, &count);
	works_if(!rc && count.value > 10000 && count.value < 5000000000,
		 "task-clock of a child from exec to exit; expected some ms, seen %.3f ms",
		 (double)count.value * 1e-6);
	pev_event_close(ev);
}

/* ---- a cgroup ------------------------------------------------------------------ */

static int join(const char *group)
{
	char path[256], text[32];
	int fd, n;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	n = snprintf(text, sizeof(text), "%d", (int)getpid());
	if (fd < 0)
		return -errno;
	n = write(fd, text, (size_t)n) == n ? 0 : -errno;
	close(fd);
	return n;
}

static void cgroup_child(const char *group)
{
	pid_t pid = fork();

	if (!pid) {
		if (!join(group))
			call_getppid(CALLS);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static int open_cgroup(struct pev_event **evs, int ncpus, int fd, struct pev_error *err)
{
	struct perf_event_attr attr;
	int rc = pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getppid", err);

	for (int i = 0; !rc && i < ncpus; i++)
		rc = pev_event_open(&evs[i], &attr, pev_target_cgroup(fd, i), NULL, err);
	return rc;
}

static void cgroup(void)
{
	static const char group[] = "/sys/fs/cgroup/perf-prof-check";
	struct pev_event *evs[64] = { 0 };
	int ncpus = (int)sysconf(_SC_NPROCESSORS_ONLN), fd, rc;
	struct pev_error err = { 0 };
	uint64_t sum = 0;

	if (access("/sys/fs/cgroup/cgroup.procs", W_OK) || (mkdir(group, 0755) && errno != EEXIST)) {
		skip("needs a cgroup v2 that can be written (%s)", strerror(errno));
		return;
	}
	fd = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ncpus = ncpus > 64 ? 64 : ncpus;
	rc = open_cgroup(evs, ncpus, fd, &err);
	if (!rc) {
		cgroup_child(group);
		call_getppid(CALLS);            /* outside: must not count */
	}
	for (int i = 0; i < ncpus; i++) {
		struct pev_count count = { 0 };

		if (evs[i])
			pev_event_read(evs[i], &count);
		sum += count.value;
		pev_event_close(evs[i]);
	}
	close(fd);
	rmdir(group);
	if (rc)
		failed_with("a cgroup's tracepoint", rc, &err);
	else
		works_exactly("1000 calls inside a cgroup, 1000 outside", CALLS, sum);
}

const struct check count_checks[] = {
	{ "kernel", kernel_facts },
	{ "page-faults", page_faults },
	{ "context-switches", context_switches },
	{ "task-clock", task_clock },
	{ "tracepoint", tracepoint },
	{ "tracepoint filter", tracepoint_filter },
	{ "bad filter", tracepoint_bad_filter },
	{ "unknown tracepoint", unknown_tracepoint },
	{ "inherit", inherit },
	{ "no inherit", no_inherit },
	{ "inherit_thread", inherit_thread },
	{ "enable_on_exec", enable_on_exec },
	{ "cgroup", cgroup },
	{ NULL, NULL },
};
