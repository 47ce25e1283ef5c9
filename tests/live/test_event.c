/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that count: n getppid calls are n events, wherever they are made.
 * Requires: perf_event_open(2); a readable tracefs and tracepoints for most.
 */
#include "live.h"

#include <poll.h>
#include <sys/resource.h>

enum { N = 1234 };

/* ------------------------------------------------------------------------
 * Exact counts
 */

TEST(calls_of_this_thread)
{
	struct pev_event *ev = open_getppid();

	call_getppid(10);
	assert_int_equal(count_of(ev), 0);
	pev_event_enable(ev);
	call_getppid(N);
	pev_event_disable(ev);
	call_getppid(10);
	assert_int_equal(count_of(ev), N);
	assert_int_equal(pev_event_reset(ev), 0);
	assert_int_equal(count_of(ev), 0);
	pev_event_close(ev);
}

/* No filter is fine as long as there is none; the first one stays. */
TEST(one_filter_in_an_events_life)
{
	struct pev_event *ev = open_getppid();
	struct pev_error err = { 0 };

	pev_event_enable(ev);
	assert_int_equal(pev_event_set_filter(ev, NULL, &err), 0);
	assert_int_equal(pev_event_set_filter(ev, "", &err), 0);
	call_getppid(1);
	assert_int_equal(count_of(ev), 1);
	assert_int_equal(pev_event_set_filter(ev, "common_pid == 0", &err), 0);
	call_getppid(10);
	assert_int_equal(count_of(ev), 1);
	assert_int_equal(pev_event_set_filter(ev, "common_pid != 0", &err), -EEXIST);
	assert_non_null(strstr(err.remedy, "open it again"));
	assert_int_equal(pev_event_set_filter(ev, NULL, &err), -EEXIST);
	call_getppid(10);
	assert_int_equal(count_of(ev), 1);
	pev_event_close(ev);
}

struct gate {
	pthread_barrier_t told, open;
	pid_t tid;
};

static void *caller(void *arg)
{
	struct gate *gate = arg;

	gate->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&gate->told);
	pthread_barrier_wait(&gate->open);
	call_getppid(N);
	return NULL;
}

TEST(calls_of_another_thread)
{
	struct gate gate;
	struct perf_event_attr attr;
	struct pev_event *ev;
	pthread_t thread;

	getppid_attr(&attr);
	pthread_barrier_init(&gate.told, NULL, 2);
	pthread_barrier_init(&gate.open, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, caller, &gate), 0);
	pthread_barrier_wait(&gate.told);
	ev = open_on(&attr, pev_target_thread(gate.tid));
	pev_event_enable(ev);
	call_getppid(7);   /* ours are not its */
	pthread_barrier_wait(&gate.open);
	pthread_join(thread, NULL);
	assert_int_equal(count_of(ev), N);
	pev_event_close(ev);
}

/* Calls of others on that CPU are taken out by a filter on our thread. */
TEST(calls_on_one_cpu)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *here, *bound;
	char filter[64];
	int cpu = pin();

	getppid_attr(&attr);
	here = open_on(&attr, pev_target_cpu(cpu));
	snprintf(filter, sizeof(filter), "common_pid == %ld", (long)syscall(SYS_gettid));
	assert_int_equal(pev_event_set_filter(here, filter, &err), 0);
	bound = open_on(&attr, pev_target_thread_on_cpu(0, cpu));
	pev_event_enable(here);
	pev_event_enable(bound);
	call_getppid(N);
	pev_event_disable(here);
	pev_event_disable(bound);
	assert_int_equal(count_of(here), N);
	assert_int_equal(count_of(bound), N);
	pev_event_close(here);
	pev_event_close(bound);
	unpin();
}

/* ------------------------------------------------------------------------
 * Opening: groups, options, what is refused and why
 */

TEST(members_count_with_their_leader)
{
	struct pev_open_opts opts = { .size = sizeof(opts) };
	struct pev_event *leader, *member;
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	uint64_t a, b;

	getppid_attr(&attr);
	leader = open_on(&attr, pev_target_self());
	opts.group = leader;
	attr.disabled = 0;
	assert_int_equal(pev_event_open(&member, &attr, pev_target_self(), &opts, &err), 0);
	call_getppid(3);
	pev_event_enable(leader);
	call_getppid(N);
	pev_event_disable(leader);
	call_getppid(3);
	assert_int_equal(count_of(leader), N);
	assert_int_equal(count_of(member), N);
	assert_int_equal(pev_event_id(leader, &a), 0);
	assert_int_equal(pev_event_id(member, &b), 0);
	assert_int_not_equal(a, b);
	pev_event_close(member);
	pev_event_close(leader);
}

TEST(descriptors_do_not_outlive_exec)
{
	struct pev_event *ev = open_software("dummy");
	char path[64];
	pid_t child;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", pev_event_fd(ev));
	child = fork_child();
	if (!child) {
		execlp("test", "test", "!", "-e", path, (char *)NULL);
		_exit(99);
	}
	assert_int_equal(exit_code_of(child), 0);
	pev_event_close(ev);
}

TEST(options_of_another_size)
{
	struct { struct pev_open_opts opts; uint64_t tail; } big = { .opts.size = sizeof(big) };
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	pev_attr_software(&attr, "dummy", NULL);
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), &big.opts, &err), &err);
	pev_event_close(ev);
	big.tail = 1;
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), &big.opts, &err), -EINVAL);
	assert_null(ev);
	big.opts.size = 0;
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), &big.opts, &err), -EINVAL);
	/* only the size: what lies behind it is not looked at */
	big.opts = (struct pev_open_opts){ .size = sizeof(size_t), .flags = UINT64_MAX };
	big.opts.label = (const char *)1;
	big.opts.group = (struct pev_event *)1;
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), &big.opts, &err), 0);
	pev_event_close(ev);
}

TEST(no_descriptor_left)
{
	struct rlimit old, low;
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	pev_attr_software(&attr, "dummy", NULL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_non_null(strstr(err.remedy, "ulimit -n"));
}

TEST(the_end_of_a_task_is_seen)
{
	struct perf_event_attr attr;
	struct pev_event *ev;
	struct pollfd p = { .events = POLLIN };
	int gate[2];
	pid_t child;

	assert_int_equal(pipe(gate), 0);
	child = fork_child();
	if (!child) {
		char c;

		close(gate[1]);
		_exit(read(gate[0], &c, 1) != 0);
	}
	close(gate[0]);
	pev_attr_software(&attr, "dummy", NULL);
	ev = open_on(&attr, pev_target_thread(child));
	p.fd = pev_event_fd(ev);
	close(gate[1]);
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_true(p.revents & (POLLHUP | POLLERR));
	waitpid(child, NULL, 0);
	pev_event_close(ev);
}

/* ------------------------------------------------------------------------
 * What this kernel offers
 */

TEST(unknown_tracepoints)
{
	static const char *const unknown[][2] = {
		{ "sched", "no_such_event" }, { "..", "sched_switch" }, { "", "" },
		/* which would be there */
		{ "sched/../sched", "sched_switch" }, { "sched", "../sched/sched_switch" },
	};
	struct pev_error err = { 0 };
	char path[256];

	skip_if_refused(pev_tracefs_path(path, sizeof(path), &err), &err);
	assert_true(pev_tracepoint_id("sched", "sched_switch", &err) > 0);
	for (size_t i = 0; i < COUNT(unknown); i++) {
		assert_int_equal(pev_tracepoint_id(unknown[i][0], unknown[i][1], &err), -ENOENT);
		SAYS(err.asked, unknown[i][0], unknown[i][1]);
	}
}

AROUND_ALL(needs_the_system_call, NULL)
