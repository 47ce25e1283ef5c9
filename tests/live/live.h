/* SPDX-License-Identifier: Apache-2.0 */
/* What a live test requires, found out by trying, never by looking at the uid. */
#ifndef TESTS_LIVE_LIVE_H
#define TESTS_LIVE_LIVE_H

#include "checks.h"

#include <perfevent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Skips, with the reason where the summary of all tests looks for it. */
#define SKIP(...)                                                                                  \
	do {                                                                                       \
		printf("# skip: " __VA_ARGS__);                                                    \
		printf("\n");                                                                      \
		fflush(stdout);                                                                    \
		skip();                                                                            \
	} while (0)

/* Skips with the library's own words if what was tried is refused here. */
static inline void skip_if_refused(int rc, const struct pev_error *err)
{
	char text[1200];

	if (rc >= 0)
		return;
	pev_error_text(err, text, sizeof(text));
	if (rc == -EACCES || rc == -EPERM || rc == -ENOENT || rc == -ENODEV || rc == -EOPNOTSUPP)
		SKIP("%s", text);
	fail_msg("%s", text);
}

/* First thing of every program: without the system call nothing here means anything. */
static inline int needs_the_system_call(void **state)
{
	int rc = pev_supported();

	(void)state;
	if (rc)
		print_error("perf_event_open(2) is not there: %s\n", strerror(-rc));
	return rc;
}

/* A child that doesn't outlive this program: it may skip or fail before it lets the child go on. */
static inline pid_t fork_child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* How a child ended: its exit code, 255 if by a signal. */
static inline int exit_code_of(pid_t pid)
{
	int wstatus;

	assert_int_equal(waitpid(pid, &wstatus, 0), pid);
	return WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) : 255;
}

/* The attr of syscalls:sys_enter_getppid, counted from the moment it is enabled. */
static inline void getppid_attr(struct perf_event_attr *attr)
{
	struct pev_error err = { 0 };

	skip_if_refused(pev_attr_tracepoint(attr, "syscalls", "sys_enter_getppid", &err), &err);
	attr->disabled = 1;
}

static inline struct pev_event *open_on(const struct perf_event_attr *attr, struct pev_target target)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .label = "syscalls:sys_enter_getppid" };
	struct pev_error err = { 0 };
	struct pev_event *ev;

	skip_if_refused(pev_event_open(&ev, attr, target, &opts, &err), &err);
	return ev;
}

/* An event of this thread's getppid calls, off. */
static inline struct pev_event *open_getppid(void)
{
	struct perf_event_attr attr;

	getppid_attr(&attr);
	return open_on(&attr, pev_target_self());
}

/* A software event of this thread that counts. */
static inline struct pev_event *open_software(const char *name)
{
	struct perf_event_attr attr;

	pev_attr_software(&attr, name, NULL);
	return open_on(&attr, pev_target_self());
}

static inline void call_getppid(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static inline uint64_t count_of(const struct pev_event *ev)
{
	struct pev_count c;

	assert_int_equal(pev_event_read(ev, &c), 0);
	return c.value;
}

/* A CPU that this thread may run on; the thread stays there. */
static inline int pin(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (cpu < 0 || sched_setaffinity(0, sizeof(set), &set))
		SKIP("needs sched_setaffinity");
	return cpu;
}

static inline void unpin(void)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	sched_setaffinity(0, sizeof(set), &set);
}

#endif
