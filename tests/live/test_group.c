/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups with exact counts: opened whole or not at all, measured, read, inherited.
 * Requires: perf_event_open(2), a readable tracefs, tracepoints.
 */
#include "live.h"

#include <dirent.h>

static void add_software(struct pev_group *g, uint64_t config)
{
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, config);
	attr.disabled = 1;
	assert_true(pev_group_add(g, &attr, NULL) >= 0);
}

static void add_call(struct pev_group *g, const char *name, bool disabled, bool inherit)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };

	skip_if_refused(pev_attr_tracepoint(&attr, "syscalls", name, &err), &err);
	attr.disabled = disabled;
	attr.inherit = inherit;
	assert_true(pev_group_add(g, &attr, name) >= 0);
}

static void open_group(struct pev_group *g, struct pev_target target)
{
	struct pev_error err = { 0 };

	skip_if_refused(pev_group_open(g, target, NULL, &err), &err);
}

static void calls(void *arg)
{
	unsigned int n = *(unsigned int *)arg;

	for (unsigned int i = 0; i < n; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getuid);
		syscall(SYS_getuid);
	}
}

/* task-clock leads, then getppid and getuid: all opened disabled. */
static struct pev_group *mixed_group(void)
{
	struct pev_group *g = pev_group_new();

	assert_non_null(g);
	add_software(g, PERF_COUNT_SW_TASK_CLOCK);
	add_call(g, "sys_enter_getppid", true, false);
	add_call(g, "sys_enter_getuid", true, false);
	return g;
}

TEST(measure_is_exact)
{
	struct pev_group *g = mixed_group();
	struct pev_count c[3];
	unsigned int n = 1000;

	open_group(g, pev_target_self());
	for (int round = 0; round < 3; round++) {
		assert_int_equal(pev_group_measure(g, calls, &n, c, 3), 3);
		assert_true(c[0].value > 0);
		assert_int_equal(c[1].value, n);
		assert_int_equal(c[2].value, 2 * n);
		assert_true(c[0].time_enabled > 0);
		assert_int_equal(c[0].time_enabled, c[0].time_running);
		/* of this run, not since the opening */
		assert_true(c[0].time_enabled < 10000000000);
		assert_true(c[0].id && c[1].id && c[0].id != c[1].id);
	}
	assert_string_equal(pev_group_label(g, 0), "task-clock");
	assert_string_equal(pev_group_label(g, 2), "sys_enter_getuid");
	assert_null(pev_group_label(g, 3));
	pev_group_close(g);
}

TEST(differences_of_a_running_group)
{
	struct pev_group *g = mixed_group();
	struct pev_count c[3];
	unsigned int n = 10;

	open_group(g, pev_target_self());
	assert_int_equal(pev_group_end(g, c, 3), -EINVAL);
	assert_int_equal(pev_group_enable(g), 0);
	for (int round = 0; round < 3; round++) {
		calls(&n);
		assert_int_equal(pev_group_begin(g), 0);
		calls(&n);
		assert_int_equal(pev_group_end(g, c, 3), 3);
		assert_int_equal(c[1].value, n);
		calls(&n);
		assert_int_equal(pev_group_end(g, c, 3), 3);
		assert_int_equal(c[2].value, 4 * n);
	}
	pev_group_close(g);
}

TEST(reset_and_disable)
{
	struct pev_group *g = mixed_group();
	struct pev_count c[3];
	unsigned int n = 5;

	assert_int_equal(pev_group_read(g, c, 3), -EBADF);
	assert_int_equal(pev_group_enable(g), -EBADF);
	open_group(g, pev_target_self());
	calls(&n);   /* not yet enabled */
	assert_int_equal(pev_group_read(g, c, 3), 3);
	assert_int_equal(c[1].value, 0);
	assert_int_equal(pev_group_enable(g), 0);
	calls(&n);
	assert_int_equal(pev_group_disable(g), 0);
	calls(&n);
	assert_int_equal(pev_group_read(g, c, 3), 3);
	assert_int_equal(c[1].value, n);
	assert_int_equal(c[2].value, 2 * n);
	assert_int_equal(pev_group_reset(g), 0);
	assert_int_equal(pev_group_read(g, c, 3), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(c[i].value, 0);
	assert_int_equal(pev_group_read(g, c, 2), -EINVAL);
	/* a member alone, by its own descriptor */
	assert_int_equal(pev_event_read(pev_group_event(g, 1), &c[0]), 0);
	assert_int_equal(pev_event_read(pev_group_event(g, 0), &c[0]), -EINVAL);
	assert_int_equal(pev_group_open(g, pev_target_self(), NULL, NULL), -EBUSY);
	assert_int_equal(pev_group_add(g, pev_event_attr(pev_group_event(g, 1)), NULL), -EBUSY);
	pev_group_close(g);
}

TEST(a_leader_that_runs_from_the_start)
{
	struct pev_group *g = pev_group_new();
	struct pev_count c[1];

	add_call(g, "sys_enter_getppid", false, false);
	open_group(g, pev_target_self());
	call_getppid(7);
	assert_int_equal(pev_group_read(g, c, 1), 1);
	assert_int_equal(c[0].value, 7);
	pev_group_close(g);
}

static unsigned int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

TEST(all_or_nothing)
{
	struct pev_group *g = mixed_group();
	unsigned int before = open_descriptors();
	struct perf_event_attr attr;
	struct pev_error err = { 0 };

	pev_attr_init(&attr, PERF_TYPE_TRACEPOINT, 0xffffff);
	assert_int_equal(pev_group_add(g, &attr, "nosuch:event"), 3);
	assert_true(pev_group_open(g, pev_target_self(), NULL, &err) < 0);
	assert_non_null(strstr(err.asked, "nosuch:event"));
	assert_int_equal(open_descriptors(), before);
	assert_null(pev_group_event(g, 0));
	pev_group_close(g);
}

TEST(rules_of_leaders)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .label = "x" };
	struct pev_group *g = pev_group_new();
	struct perf_event_attr attr;
	struct pev_error err = { 0 };

	assert_int_equal(pev_group_open(g, pev_target_self(), NULL, &err), -EINVAL);
	assert_non_null(strstr(err.said, "empty"));
	add_software(g, PERF_COUNT_SW_TASK_CLOCK);
	assert_int_equal(pev_group_open(g, pev_target_self(), &opts, &err), -EINVAL);
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	attr.pinned = 1;
	assert_int_equal(pev_group_add(g, &attr, "faults"), 1);
	assert_int_equal(pev_group_open(g, pev_target_self(), NULL, &err), -EINVAL);
	SAYS(err.asked, "faults");
	SAYS(err.said, "pinned");
	pev_group_close(g);

	g = pev_group_new();
	add_software(g, PERF_COUNT_SW_TASK_CLOCK);
	add_call(g, "sys_enter_getppid", true, true);
	assert_int_equal(pev_group_open(g, pev_target_self(), NULL, &err), -EINVAL);
	assert_non_null(strstr(err.said, "inherit"));
	pev_group_close(g);
}

/* Children count into the group of the parent. PERF_FORMAT_GROUP with inherit: 4.13. */
TEST(children_are_counted_also_while_they_run)
{
	struct pev_group *g = pev_group_new();
	unsigned int n = 100;
	int done[2], stay[2], rc;
	struct pev_error err = { 0 };
	struct pev_count c[2];
	char byte;

	add_call(g, "sys_enter_getppid", true, true);
	add_call(g, "sys_enter_getuid", true, true);
	rc = pev_group_open(g, pev_target_self(), NULL, &err);
	if (rc == -EINVAL)
		SKIP("needs a kernel whose groups can be inherited (4.13)");
	skip_if_refused(rc, &err);
	assert_int_equal(pev_group_enable(g), 0);
	assert_int_equal(pipe(done) | pipe(stay), 0);
	for (unsigned int children = 1; children <= 4; children++) {
		pid_t pid = fork_child();

		if (!pid) {
			calls(&n);
			_exit(write(done[1], "x", 1) != 1 || read(stay[0], &byte, 1) != 1);
		}
		assert_int_equal(read(done[0], &byte, 1), 1);
		assert_int_equal(pev_group_read(g, c, 2), 2);
		assert_int_equal(c[0].value, children * n);
		assert_int_equal(c[1].value, 2 * children * n);
		assert_int_equal(write(stay[1], "x", 1), 1);
		waitpid(pid, NULL, 0);
	}
	calls(&n);
	assert_int_equal(pev_group_read(g, c, 2), 2);
	assert_int_equal(c[0].value, 5 * n);
	assert_int_equal(c[1].value, 10 * n);
	pev_group_close(g);
	for (int i = 0; i < 2; i++) {
		close(done[i]);
		close(stay[i]);
	}
}

TEST(a_hand_made_group)
{
	struct pev_event *leader, *member;
	struct pev_open_opts opts = { .size = sizeof(opts) };
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count c[2];
	unsigned int n = 7;
	uint64_t id;

	getppid_attr(&attr);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	leader = open_on(&attr, pev_target_self());
	opts.group = leader;
	skip_if_refused(pev_event_open(&member, &attr, pev_target_self(), &opts, &err), &err);
	/* both were opened disabled: the leader alone does not do */
	assert_int_equal(pev_event_enable(leader), 0);
	call_getppid(3);
	assert_int_equal(pev_event_read_group(leader, c, 2), 2);
	assert_int_equal(c[0].value, 3);
	assert_int_equal(c[1].value, 0);
	assert_int_equal(pev_event_disable_group(member), 0);
	assert_int_equal(pev_event_reset_group(member), 0);
	assert_int_equal(pev_event_enable_group(member), 0);
	call_getppid(4);
	assert_int_equal(pev_event_disable_group(leader), 0);
	call_getppid(4);
	assert_int_equal(pev_event_read_group(leader, c, 2), 2);
	assert_int_equal(c[0].value, 4);
	assert_int_equal(c[1].value, 4);
	assert_int_equal(pev_event_id(member, &id), 0);
	assert_int_equal(c[1].id, id);
	assert_int_equal(pev_event_read_group(leader, c, 1), -EINVAL);
	/* the leader's own count, its members let be */
	assert_int_equal(pev_event_measure(leader, calls, &n, &c[0]), 0);
	assert_int_equal(c[0].value, n);
	assert_int_equal(pev_event_id(leader, &id), 0);
	assert_int_equal(c[0].id, id);
	pev_event_close(member);
	pev_event_close(leader);
}

TEST(many_members)
{
	enum { N = 100 };
	struct pev_group *g = pev_group_new();
	struct pev_count c[N];
	unsigned int n = 3;

	for (int i = 0; i < N; i++)
		add_call(g, i % 2 ? "sys_enter_getuid" : "sys_enter_getppid", true, false);
	open_group(g, pev_target_self());
	assert_int_equal(pev_group_measure(g, calls, &n, c, N), N);
	for (int i = 0; i < N; i++)
		assert_int_equal(c[i].value, i % 2 ? 2 * n : n);
	pev_group_close(g);
}

TEST(one_event_measured)
{
	struct perf_event_attr attr;
	struct pev_event *ev;
	struct pev_count c;
	unsigned int n = 3;

	getppid_attr(&attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	ev = open_on(&attr, pev_target_self());
	for (int i = 0; i < 3; i++) {
		call_getppid(5);
		assert_int_equal(pev_event_measure(ev, calls, &n, &c), 0);
		assert_int_equal(c.value, 3);
		assert_true(c.time_enabled > 0 && c.time_enabled < 10000000000);
	}
	pev_event_close(ev);
}

/* Where no PMU lets user space read, reads through the page are read(2)'s. */
TEST(self_reads_equal_read)
{
	struct pev_group *g = mixed_group();
	struct pev_count c[3], one;
	struct pev_self *self;
	struct pev_event *ev;
	unsigned int n = 50;

	open_group(g, pev_target_self());
	assert_int_equal(pev_group_map_self(g), 0);
	assert_int_equal(pev_group_measure(g, calls, &n, c, 3), 3);
	assert_int_equal(c[1].value, n);
	assert_int_equal(c[2].value, 2 * n);
	pev_group_close(g);

	ev = open_getppid();
	assert_int_equal(pev_self_map(&self, ev), 0);
	assert_false(pev_self_fast(self));
	assert_int_equal(pev_event_enable(ev), 0);
	call_getppid(9);
	assert_int_equal(pev_self_read(self, &one), 0);
	assert_int_equal(one.value, 9);
	pev_self_unmap(self);
	pev_event_close(ev);
}

AROUND_ALL(needs_the_system_call, NULL)
