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

static void software_event_counts(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	struct pev_count c;

	assert_int_equal(pev_attr_software(&attr, "task-clock", &err), 0);
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			   PERF_FORMAT_ID;
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), &err);
	assert_int_equal(count_of(ev), 0);
	assert_int_equal(pev_event_enable(ev), 0);
	call_getppid(1000);
	assert_int_equal(pev_event_disable(ev), 0);
	assert_int_equal(pev_event_read(ev, &c), 0);
	assert_true(c.value > 0);
	assert_true(c.time_enabled > 0 && c.time_running == c.time_enabled);
	assert_true(c.id > 0);
	pev_event_close(ev);
}

static void calls_of_this_thread(void **state)
{
	struct perf_event_attr attr;
	struct pev_event *ev;

	getppid_attr(&attr);
	ev = open_on(&attr, pev_target_self());
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

static void a_filter_that_holds_and_one_that_does_not(void **state)
{
	static const struct {
		const char *filter;
		unsigned int want;
	} rows[] = { { "common_pid > 0", N }, { "common_pid == 0", 0 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct perf_event_attr attr;
		struct pev_error err = { 0 };
		struct pev_event *ev;

		getppid_attr(&attr);
		ev = open_on(&attr, pev_target_self());
		assert_int_equal(pev_event_set_filter(ev, rows[i].filter, &err), 0);
		pev_event_enable(ev);
		call_getppid(N);
		pev_event_disable(ev);
		assert_int_equal(count_of(ev), rows[i].want);
		pev_event_close(ev);
	}
}

/* No filter is fine as long as there is none; the first one stays. */
static void one_filter_in_an_events_life(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	getppid_attr(&attr);
	ev = open_on(&attr, pev_target_self());
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

static void a_bad_filter_names_the_fields(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	getppid_attr(&attr);
	ev = open_on(&attr, pev_target_self());
	assert_int_equal(pev_event_set_filter(ev, "no_such_field == 1", &err), -EINVAL);
	assert_non_null(strstr(err.asked, "no_such_field == 1"));
	assert_non_null(strstr(err.remedy, "__syscall_nr"));
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

static void calls_of_another_thread(void **state)
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

/* A child's calls count with inherit, and do not without. */
static uint64_t count_with_child(bool inherit)
{
	struct perf_event_attr attr;
	struct pev_event *ev;
	uint64_t n;
	pid_t child;
	int status;

	getppid_attr(&attr);
	attr.inherit = inherit;
	ev = open_on(&attr, pev_target_self());
	pev_event_enable(ev);
	child = fork_child();
	assert_true(child >= 0);
	if (!child) {
		call_getppid(N);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	call_getppid(5);
	pev_event_disable(ev);
	n = count_of(ev);
	pev_event_close(ev);
	return n;
}

static void calls_of_a_child(void **state)
{
	assert_int_equal(count_with_child(true), N + 5);
	assert_int_equal(count_with_child(false), 5);
}

/* Calls of others on that CPU are taken out by a filter on our thread. */
static void calls_on_one_cpu(void **state)
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

static void members_count_with_their_leader(void **state)
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

static void a_group_read_is_refused(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	struct pev_count c;

	pev_attr_software(&attr, "task-clock", NULL);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), &err);
	assert_int_equal(pev_event_read(ev, &c), -EINVAL);
	pev_event_close(ev);
}

static void descriptors_do_not_outlive_exec(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	char path[64];
	pid_t child;
	int status;

	pev_attr_software(&attr, "dummy", NULL);
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), &err);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pev_event_fd(ev));
	child = fork_child();
	if (!child) {
		execlp("test", "test", "!", "-e", path, (char *)NULL);
		_exit(99);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	pev_event_close(ev);
}

static void options_of_another_size(void **state)
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

static void targets_that_do_not_exist(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	pev_attr_software(&attr, "task-clock", NULL);
	assert_int_equal(pev_event_open(&ev, &attr, (struct pev_target){ 0 }, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "pev_target_"));
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_thread(0x7fffffff), NULL, &err), -ESRCH);
	assert_non_null(strstr(err.remedy, "2147483647"));
	assert_true(pev_event_open(&ev, &attr, pev_target_thread_on_cpu(0, 100000), NULL, &err) < 0);
	assert_non_null(strstr(err.asked, "CPU 100000"));
	assert_non_null(strstr(err.remedy, "100000"));
	assert_null(ev);
}

/* The library finds out by trying which bit the kernel does not like. */
static void refused_bits_are_named(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	pev_attr_software(&attr, "task-clock", NULL);
	attr.sample_type = PERF_SAMPLE_IP | 1ULL << 62;
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "bit 62 of sample_type"));
	attr.sample_type = 0;
	attr.read_format = 1ULL << 33;
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "bit 33 of read_format"));
	attr.read_format = 0;
	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 12;
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "sample_stack_user"));
	attr.sample_stack_user = 0;
	attr.sample_type = 0;
	attr.sigtrap = 1;
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "sigtrap"));
}

static void a_stack_deeper_than_the_limit(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	pev_attr_software(&attr, "task-clock", NULL);
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	attr.exclude_kernel = 1;
	attr.sample_max_stack = 65000;
	if (pev_max_stack() >= 65000)
		SKIP("needs kernel.perf_event_max_stack below 65000");
	assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), -EOVERFLOW);
	assert_non_null(strstr(err.remedy, "65000"));
}

static void no_descriptor_left(void **state)
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

static void the_end_of_a_task_is_seen(void **state)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
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
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_thread(child), NULL, &err), &err);
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

static void sysctls_can_be_read(void **state)
{
	int level = 99;

	assert_int_equal(pev_paranoid(&level), 0);
	assert_in_range(level + 1, 0, 5);
	assert_true(pev_max_stack() > 0);
}

static void unknown_tracepoints(void **state)
{
	struct pev_error err = { 0 };
	char path[256];

	skip_if_refused(pev_tracefs_path(path, sizeof(path), &err), &err);
	assert_true(pev_tracepoint_id("sched", "sched_switch", &err) > 0);
	assert_int_equal(pev_tracepoint_id("sched", "no_such_event", &err), -ENOENT);
	assert_non_null(strstr(err.asked, "sched:no_such_event"));
	assert_int_equal(pev_tracepoint_id("..", "sched_switch", &err), -ENOENT);
	assert_int_equal(pev_tracepoint_id("sched", "../sched_switch", &err), -ENOENT);
	assert_int_equal(pev_tracepoint_id("", "", &err), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(software_event_counts),
		cmocka_unit_test(calls_of_this_thread),
		cmocka_unit_test(a_filter_that_holds_and_one_that_does_not),
		cmocka_unit_test(one_filter_in_an_events_life),
		cmocka_unit_test(a_bad_filter_names_the_fields),
		cmocka_unit_test(calls_of_another_thread),
		cmocka_unit_test(calls_of_a_child),
		cmocka_unit_test(calls_on_one_cpu),
		cmocka_unit_test(members_count_with_their_leader),
		cmocka_unit_test(a_group_read_is_refused),
		cmocka_unit_test(descriptors_do_not_outlive_exec),
		cmocka_unit_test(options_of_another_size),
		cmocka_unit_test(targets_that_do_not_exist),
		cmocka_unit_test(refused_bits_are_named),
		cmocka_unit_test(a_stack_deeper_than_the_limit),
		cmocka_unit_test(no_descriptor_left),
		cmocka_unit_test(the_end_of_a_task_is_seen),
		cmocka_unit_test(sysctls_can_be_read),
		cmocka_unit_test(unknown_tracepoints),
	};

	return cmocka_run_group_tests(tests, needs_the_system_call, NULL);
}
