/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controls of an open event: refresh, period, signals, output, BPF, breakpoints that move.
 * Requires: perf_event_open(2), a readable tracefs, tracepoints; bpf(2) and breakpoints
 * for the tests of those.
 */
#include "ringed.h"

#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <sys/eventfd.h>
#include <time.h>

TEST(prctl_switches_all)
{
	struct pev_event *a = open_getppid(), *b = open_getppid();

	assert_int_equal(pev_tasks_enable(), 0);
	call_getppid(3);
	assert_int_equal(pev_tasks_disable(), 0);
	call_getppid(3);
	assert_int_equal(count_of(a), 3);
	assert_int_equal(count_of(b), 3);
	pev_event_close(a);
	pev_event_close(b);
}

static void sampling(uint64_t period, unsigned int pages)
{
	struct perf_event_attr attr;

	getppid_attr(&attr);
	attr.sample_type = PERF_SAMPLE_TIME;
	pev_attr_sample_period(&attr, period);
	pev_attr_wakeup_events(&attr, 1);
	ev = open_on(&attr, pev_target_self());
	if (pages)
		map(pages);
}

static unsigned int records(void)
{
	unsigned int n = 0;

	pev_ring_begin(ring);
	while (pev_ring_next(ring))
		n++;
	pev_ring_end(ring);
	return n;
}

RING_TEST(refresh_counts_down)
{
	sampling(1, 8);
	assert_int_equal(pev_event_refresh(ev, 0), -EINVAL);
	assert_int_equal(pev_event_refresh(ev, 3), 0);
	call_getppid(10);
	assert_int_equal(records(), 3);
	assert_int_equal(pev_event_refresh(ev, 2), 0);
	call_getppid(10);
	assert_int_equal(records(), 2);
}

RING_TEST(the_period_changes)
{
	sampling(10, 8);
	assert_int_equal(pev_event_enable(ev), 0);
	call_getppid(100);
	assert_int_equal(records(), 10);
	assert_int_equal(pev_event_set_period(ev, 0), -EINVAL);
	assert_int_equal(pev_event_set_period(ev, 2), 0);
	call_getppid(100);   /* the period that had begun is done first */
	assert_in_range(records(), 45, 51);
	call_getppid(100);
	assert_in_range(records(), 49, 51);
}

/* The kernel turns a clock's frequency into a period when it is opened. */
RING_TEST(the_frequency_of_a_clock_changes)
{
	struct perf_event_attr attr;
	unsigned int n;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	pev_attr_sample_freq(&attr, 4000);
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.exclude_kernel = 1;
	ev = open_on(&attr, pev_target_self());
	map(64);
	assert_int_equal(pev_event_set_period(ev, 3276800000), -EINVAL);
	assert_int_equal(pev_event_set_period(ev, 0), -EINVAL);
	assert_int_equal(pev_event_set_period(ev, 500), 0);
	while (count_of(ev) < 200000000)
		;
	n = records();
	assert_in_range(n, 1, 200);   /* 100, or fewer where others take the CPU: then each turn begins a period */
}

RING_TEST(output_pauses)
{
	sampling(1, 0);
	assert_int_equal(pev_event_pause_output(ev, true), -EINVAL);
	map(8);
	assert_int_equal(pev_event_enable(ev), 0);
	call_getppid(2);
	assert_int_equal(pev_event_pause_output(ev, true), 0);
	call_getppid(50);
	assert_int_equal(pev_event_pause_output(ev, false), 0);
	call_getppid(3);
	assert_int_equal(pev_event_disable(ev), 0);
	assert_int_equal(count_of(ev), 55);
	assert_in_range(records(), 5, 6);   /* and perhaps a LOST */
}

RING_TEST(output_into_nothing_and_another)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .flags = PERF_FLAG_FD_OUTPUT |
							    PERF_FLAG_FD_NO_GROUP };
	struct pev_event *from;

	sampling(1, 8);
	/* without an event to send to, the flag means nothing */
	assert_int_equal(pev_event_open(&from, pev_event_attr(ev), pev_target_self(), &opts, &err), -EINVAL);
	opts.group = ev;
	assert_int_equal(pev_event_open(&from, pev_event_attr(ev), pev_target_self(), &opts, &err), 0);
	assert_int_equal(pev_event_enable(from), 0);   /* no group: `ev` stays off */
	call_getppid(4);
	assert_int_equal(records(), 4);
	assert_int_equal(count_of(ev), 0);
	assert_int_equal(pev_event_set_output(from, NULL), 0);
	call_getppid(4);
	assert_int_equal(records(), 0);
	assert_int_equal(pev_event_wait(from, 0, -1), -EINVAL);
	pev_event_close(from);
}

RING_TEST(other_layouts_are_not_decoded)
{
	const uint64_t types[] = { PERF_SAMPLE_TIME, PERF_SAMPLE_TIME | PERF_SAMPLE_TID };
	const int rcs[] = { 0, -EOPNOTSUPP };

	for (int i = 0; i < 2; i++) {
		struct perf_event_attr attr;
		struct pev_event *from;
		struct pev_record record;

		sampling(1, 8);
		attr = *pev_event_attr(ev);
		attr.sample_type = types[i];
		from = open_on(&attr, pev_target_self());
		assert_int_equal(pev_event_set_output(from, ev), 0);
		assert_int_equal(pev_event_enable(from), 0);
		call_getppid(1);
		pev_event_close(from);   /* its records are still there */
		pev_ring_begin(ring);
		assert_int_equal(pev_ring_decode(ring, pev_ring_next(ring), &record), rcs[i]);
		pev_ring_end(ring);
		close_both(NULL);
	}
}

RING_TEST(cgroup_flag_needs_a_cgroup)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .flags = PERF_FLAG_PID_CGROUP };
	struct perf_event_attr attr;

	getppid_attr(&attr);
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), &opts, NULL), -EINVAL);
	assert_null(ev);
}

/* ---- signals --------------------------------------------------------------- */

static volatile sig_atomic_t overflows, hangups, last_fd;

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	last_fd = info->si_fd;
	if (info->si_code == POLL_HUP)
		hangups = hangups + 1;
	else
		overflows = overflows + 1;
}

RING_TEST(overflows_send_signals)
{
	struct sigaction sa = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };
	int signo = SIGRTMIN;

	sampling(5, 8);
	sigaction(signo, &sa, NULL);
	assert_int_equal(pev_event_signal(ev, -1, PEV_OWNER_THREAD, gettid()), -EINVAL);
	assert_int_equal(pev_event_signal(ev, signo, (enum pev_owner)9, gettid()), -EINVAL);
	assert_int_equal(pev_event_signal(ev, signo, PEV_OWNER_THREAD, gettid()), 0);
	assert_int_equal(pev_event_refresh(ev, 4), 0);
	call_getppid(100);
	assert_int_equal(hangups, 1);      /* the last of them */
	assert_int_equal(overflows, 3);
	assert_int_equal(last_fd, pev_event_fd(ev));
	assert_int_equal(pev_event_signal(ev, 0, PEV_OWNER_THREAD, 0), 0);
	assert_int_equal(pev_event_refresh(ev, 4), 0);
	call_getppid(100);
	assert_int_equal(overflows, 3);
	/* id 0 is the caller's own */
	assert_int_equal(pev_event_signal(ev, signo, PEV_OWNER_THREAD, -1), -EINVAL);
	for (int owner = PEV_OWNER_THREAD; owner <= PEV_OWNER_GROUP; owner++) {
		struct f_owner_ex got = { -1, -1 };

		assert_int_equal(pev_event_signal(ev, signo, (enum pev_owner)owner, 0), 0);
		assert_int_equal(fcntl(pev_event_fd(ev), F_GETOWN_EX, &got), 0);
		assert_int_equal(got.pid, owner == PEV_OWNER_THREAD ? gettid()
				       : owner == PEV_OWNER_PROCESS ? getpid() : getpgrp());
	}
	assert_int_equal(pev_event_signal(ev, signo, PEV_OWNER_THREAD, 0), 0);
	hangups = overflows = 0;
	assert_int_equal(pev_event_refresh(ev, 4), 0);
	call_getppid(100);
	assert_int_equal(hangups, 1);
	assert_int_equal(overflows, 3);
}

/* ---- waits ------------------------------------------------------------------ */

static int64_t ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

RING_TEST(waits_end_in_time_and_by_a_wakeup)
{
	int64_t start = ms();

	sampling(1, 8);
	assert_int_equal(pev_ring_wait(ring, 0, -1), 0);
	assert_int_equal(pev_ring_wait(ring, 30, -1), 0);
	assert_in_range(ms() - start, 29, 5000);
	assert_false(pev_ring_has_record(ring));
	assert_int_equal(pev_event_enable(ev), 0);
	call_getppid(1);
	assert_true(pev_ring_has_record(ring));
	assert_int_equal(pev_ring_wait(ring, -1, -1), 1);
	assert_int_equal(records(), 1);
	/* a wake-up whose record was read meanwhile */
	call_getppid(1);
	assert_int_equal(records(), 1);
	assert_int_equal(pev_ring_wait(ring, 20, -1), 0);
	assert_int_equal(pev_ring_fd(ring), pev_event_fd(ev));
}

static void *cancel_later(void *arg)
{
	uint64_t one = 1;

	usleep(20000);
	assert_int_equal(write(*(int *)arg, &one, sizeof(one)), sizeof(one));
	return NULL;
}

RING_TEST(a_wait_is_cancelled)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	pthread_t thread;

	sampling(1, 8);
	assert_int_equal(pthread_create(&thread, NULL, cancel_later, &fd), 0);
	assert_int_equal(pev_ring_wait(ring, 10000, fd), -ECANCELED);
	assert_int_equal(pev_event_wait(ev, 10000, fd), -ECANCELED);
	pthread_join(thread, NULL);
	close(fd);
}

RING_TEST(less_than_a_watermark_is_told_at_the_end)
{
	struct perf_event_attr attr;
	int go[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(go), 0);
	pid = fork_child();
	if (!pid) {
		if (read(go[0], &byte, 1) == 1)
			call_getppid(3);
		_exit(0);
	}
	getppid_attr(&attr);
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.disabled = 0;
	pev_attr_sample_period(&attr, 1);
	pev_attr_wakeup_watermark(&attr, 16384);
	ev = open_on(&attr, pev_target_thread(pid));
	map(8);
	assert_int_equal(pev_ring_wait(ring, 0, -1), 0);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(pev_ring_wait(ring, 10000, -1), 1);
	assert_int_equal(records(), 3);
	assert_int_equal(pev_ring_wait(ring, 10000, -1), -ESRCH);
	assert_int_equal(pev_event_wait(ev, -1, -1), -ESRCH);
	waitpid(pid, NULL, 0);
	close(go[0]);
	close(go[1]);
}

/* ---- BPF --------------------------------------------------------------------- */

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* A program that returns `verdict` at once: 0 keeps the event from being recorded. */
static int load(uint32_t type, int verdict, uint32_t *id)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = type, .insns = (uintptr_t)insns, .insn_cnt = 2,
				.license = (uintptr_t) "GPL" };
	struct bpf_prog_info info = { 0 };
	int fd = (int)bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		SKIP("needs bpf(2): %s", strerror(errno));
	attr = (union bpf_attr){ .info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(info),
					   .info = (uintptr_t)&info } };
	assert_int_equal(bpf(BPF_OBJ_GET_INFO_BY_FD, &attr), 0);
	*id = info.id;
	return fd;
}

/* A program filters a tracepoint for everybody, so it is on one that no other test needs. */
RING_TEST(bpf_programs_are_attached_and_listed)
{
	struct perf_event_attr attr;
	uint32_t id, ids[8];
	size_t nr;
	int fd = load(BPF_PROG_TYPE_TRACEPOINT, 0, &id);

	assert_int_equal(pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getsid", &err), 0);
	attr.disabled = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	pev_attr_sample_period(&attr, 1);
	ev = open_on(&attr, pev_target_self());
	map(8);
	assert_int_equal(pev_event_query_bpf(ev, ids, 8, &nr), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(pev_event_set_bpf(ev, fd, &err), 0);
	close(fd);
	assert_int_equal(pev_event_query_bpf(ev, ids, 8, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(ids[0], id);
	nr = 77;
	assert_int_equal(pev_event_query_bpf(ev, NULL, 0, &nr), -ENOSPC);
	assert_int_equal(nr, 1);
	assert_int_equal(pev_event_enable(ev), 0);
	for (int i = 0; i < 5; i++)
		syscall(SYS_getsid, 0);
	assert_int_equal(records(), 0);
}

RING_TEST(wrong_bpf_is_explained)
{
	uint32_t id;
	int fd = load(BPF_PROG_TYPE_SOCKET_FILTER, 0, &id);

	sampling(1, 0);
	assert_true(pev_event_set_bpf(ev, fd, &err) < 0);
	assert_non_null(strstr(err.remedy, "type"));
	close(fd);
	assert_int_equal(pev_event_set_bpf(ev, fd, &err), -EBADF);
	assert_non_null(strstr(err.asked, "sys_enter_getppid"));
}

/* ---- breakpoints -------------------------------------------------------------- */

static volatile uint64_t words[2];

RING_TEST(a_breakpoint_moves)
{
	struct perf_event_attr attr, moved;

	assert_int_equal(pev_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)&words[0], 8, NULL), 0);
	attr.exclude_kernel = 1;
	ev = open_on(&attr, pev_target_self());
	for (uint64_t i = 0; i < 5; i++)
		words[0] = i;
	if (!count_of(ev))
		SKIP("needs breakpoints that fire");
	assert_int_equal(count_of(ev), 5);
	moved = *pev_event_attr(ev);
	moved.bp_addr = (uintptr_t)&words[1];
	assert_int_equal(pev_event_modify(ev, &moved, &err), 0);
	for (uint64_t i = 0; i < 5; i++)
		words[0] = i;
	assert_int_equal(count_of(ev), 5);
	for (uint64_t i = 0; i < 7; i++)
		words[1] = i;
	assert_int_equal(count_of(ev), 12);
	moved.exclude_user = 1;
	assert_int_equal(pev_event_modify(ev, &moved, &err), -EINVAL);
	SAYS(err.remedy, "bp_addr");
}

RING_TEST(only_breakpoints_can_be_modified)
{
	sampling(1, 0);
	assert_int_equal(pev_event_modify(ev, pev_event_attr(ev), &err), -EOPNOTSUPP);
	assert_true(err.remedy[0]);
}

AROUND_ALL(needs_the_system_call, NULL)
