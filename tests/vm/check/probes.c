/* SPDX-License-Identifier: Apache-2.0 */
/* Events at a place: breakpoints, kernel and user probes. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HITS = 100 };

static volatile int watched;

static void write_watched(void)
{
	for (int i = 0; i < HITS; i++)
		watched = i;
}

static void read_watched(void)
{
	for (int i = 0; i < HITS; i++)
		(void)watched;
}

static void call_leaf(void)
{
	for (int i = 0; i < HITS; i++)
		leaf(1);
}

static void open_null(void)
{
	for (int i = 0; i < HITS; i++)
		close(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

/* ---- breakpoints --------------------------------------------------------------- */

static bool no_breakpoints(const struct perf_event_attr *attr)
{
	struct perf_event_attr a = *attr;
	struct pev_event *ev;
	int rc = pev_event_open(&ev, &a, pev_target_self(), NULL, NULL);

	if (!rc)
		pev_event_close(ev);
	if (rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENOSPC || rc == -ENODEV) {
		skip("needs hardware breakpoints (%s)", strerror(-rc));
		return true;
	}
	return false;
}

static void breakpoint(uint32_t type, const volatile void *at, const char *tried,
		       void (*work)(void))
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	uint64_t seen;
	int rc = pev_attr_breakpoint(&attr, type, (uintptr_t)at, 0, &err);

	attr.exclude_kernel = 1;
	if (rc)
		failed_with(tried, rc, &err);
	else if (!no_breakpoints(&attr) && !count_work(&seen, &attr, tried, work))
		works_exactly(tried, HITS, seen);
}

static void breakpoint_write(void)
{
	breakpoint(HW_BREAKPOINT_W, &watched, "100 writes", write_watched);
}

static void breakpoint_read(void)
{
	breakpoint(HW_BREAKPOINT_RW, &watched, "100 reads", read_watched);
}

static void breakpoint_execute(void)
{
	breakpoint(HW_BREAKPOINT_X, (void *)leaf, "100 calls of a function", call_leaf);
}

static volatile sig_atomic_t traps;
static volatile uint64_t trap_data;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	unsigned long data;

	(void)sig;
	(void)context;
	traps++;
	/* si_perf_data, which older <signal.h> lack, lies behind si_addr */
	memcpy(&data, (char *)&info->si_addr + sizeof(info->si_addr), sizeof(data));
	trap_data = data;
}

/* In a child: where the kernel delivers SIGTRAP before the write, as on an architecture
 * that can't step over it, the task never gets on. */
static int sigtrap_child(const struct perf_event_attr *attr)
{
	struct itimerval limit = { .it_value = { .tv_usec = 300000 } };
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct pev_event *ev;

	setitimer(ITIMER_REAL, &limit, NULL);
	sigaction(SIGTRAP, &action, NULL);
	if (pev_event_open(&ev, attr, pev_target_self(), NULL, NULL))
		return 101;
	pev_event_enable(ev);
	write_watched();
	pev_event_disable(ev);
	return trap_data == 0x1234 ? (int)traps : 102;
}

static void sigtrap(void)
{
	struct perf_event_attr attr;
	int status;
	pid_t pid;

	if (!kernel_has(5, 13)) {
		skip("needs Linux 5.13");
		return;
	}
	pev_attr_init(&attr, PERF_TYPE_BREAKPOINT, 0);
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uintptr_t)&watched;
	attr.bp_len = 4;
	attr.exclude_kernel = attr.disabled = 1;
	if (no_breakpoints(&attr))
		return;
	pev_attr_sample_period(&attr, 1);
	attr.sigtrap = attr.remove_on_exec = 1;
	attr.sig_data = 0x1234;
	pid = fork();
	if (!pid)
		_exit(sigtrap_child(&attr));
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		skip("here SIGTRAP comes before the write, for ever");
		return;
	}
	works_if(WIFEXITED(status) && WEXITSTATUS(status) == HITS,
		 "100 writes, a SIGTRAP each with our sig_data; expected exit code 100, seen %d",
		 WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

/* ---- kprobes and uprobes ------------------------------------------------------- */

static void kernel_probe(bool at_return)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	uint64_t seen, offset = 0;
	int rc;

#if defined(__riscv)
	/* Without KPROBES_ON_FTRACE nothing can stand on the 8 bytes that ftrace patches. */
	if (at_return) {
		skip("riscv64 kernels refuse probes at the entry of a function");
		return;
	}
	offset = 8;
#endif
	rc = pev_attr_kprobe(&attr, "do_sys_openat2", offset, at_return, &err);
	if (rc == -ENOENT)
		skip("%s", error_text(&err));
	else if (rc)
		failed_with("do_sys_openat2", rc, &err);
	else if (!count_work(&seen, &attr, "100 calls of open", open_null))
		works_exactly("100 calls of open", HITS, seen);
}

static void kprobe(void)
{
	kernel_probe(false);
}

static void kretprobe(void)
{
	kernel_probe(true);
}

/* No function of that name: shows only when it is opened. */
static void unknown_function(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev = NULL;
	int rc = pev_attr_kprobe(&attr, "nonesuch_function", 0, false, &err);

	if (rc == -ENOENT) {
		skip("%s", error_text(&err));
		return;
	}
	rc = pev_event_open(&ev, &attr, pev_target_self(), NULL, &err);
	pev_event_close(ev);
	refused_if(rc < 0 && strstr(error_text(&err), "nonesuch_function"),
		   "nonesuch_function; expected an error that names it, seen \"%s\"",
		   rc ? error_text(&err) : "it opened");
}

static void user_probe(bool at_return)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	uint64_t seen;
	int rc;

	path[n < 0 ? 0 : n] = '\0';
	rc = pev_attr_uprobe_symbol(&attr, path, "leaf", 0, at_return, &err);
	if (rc)
		failed_with("leaf() of this program", rc, &err);
	else if (!count_work(&seen, &attr, "100 calls of a function", call_leaf))
		works_exactly("100 calls of a function", HITS, seen);
}

static void uprobe(void)
{
	user_probe(false);
}

static void uretprobe(void)
{
	user_probe(true);
}

const struct check probe_checks[] = {
	{ "breakpoint write", breakpoint_write },
	{ "breakpoint read", breakpoint_read },
	{ "breakpoint execute", breakpoint_execute },
	{ "SIGTRAP", sigtrap },
	{ "kprobe", kprobe },
	{ "kretprobe", kretprobe },
	{ "unknown function", unknown_function },
	{ "uprobe", uprobe },
	{ "uretprobe", uretprobe },
	{ NULL, NULL },
};
