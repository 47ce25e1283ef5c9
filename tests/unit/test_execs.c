/* SPDX-License-Identifier: Apache-2.0 */
/* Children whose events the kernel removed at exec. */

#include "checks.h"

#include "stream/watched/execs.h"

enum { TASK = 7 };

static struct execs *e;
static const char *name;
static pid_t pid;

static int set_up(void **state)
{
	e = execs_new();
	return 0;
}

static int tear_down(void **state)
{
	execs_free(e);
	return 0;
}

static void exec_at(uint32_t task, uint64_t time, const char *program)
{
	execs_see(e, &(struct pev_record){ .type = PERF_RECORD_COMM, .sample_id.time = time,
					   .comm = { .pid = task, .tid = task, .comm = program, .exec = true } });
}

static void map_at(uint32_t task, uint64_t time)
{
	execs_see(e, &(struct pev_record){ .type = PERF_RECORD_MMAP2, .sample_id.time = time, .mmap = { .pid = task, .tid = task } });
}

static void exit_at(uint32_t task, uint32_t tid, uint64_t time)
{
	execs_see(e, &(struct pev_record){ .type = PERF_RECORD_EXIT, .sample_id.time = time, .task = { .pid = task, .tid = tid } });
}

static bool is_one(const void *ctx, pid_t task)
{
	return task == *(const pid_t *)ctx;
}

/* How many were removed, without that one. */
static size_t removed(pid_t but)
{
	return execs_removed(e, is_one, &but, &pid, &name);
}

TEST_WITH(an_exit_without_a_mapping_is_a_removal, set_up, tear_down)
{
	exec_at(TASK, 10, "su");
	assert_int_equal(removed(0), 0);   /* it may still map */
	exit_at(TASK, TASK + 1, 11);                    /* a thread */
	assert_int_equal(removed(0), 0);
	exit_at(TASK, TASK, 12);
	assert_int_equal(removed(0), 1);
	assert_int_equal(pid, TASK);
	assert_string_equal(name, "su");
	assert_int_equal(removed(TASK), 0);
}

TEST_WITH(a_program_that_was_watched_before_counts_as_well, set_up, tear_down)
{
	exec_at(TASK, 10, "sh");
	map_at(TASK, 11);
	exec_at(TASK, 20, "su");
	exit_at(TASK, TASK, 21);
	assert_int_equal(removed(0), 1);
	assert_string_equal(name, "su");
}

/* Records of a task that changes its CPU are in several rings, which are read one after another. */
TEST_WITH(the_order_of_reading_does_not_matter, set_up, tear_down)
{
	map_at(TASK, 11);
	exec_at(TASK, 10, "ls");
	exit_at(TASK, TASK, 12);
	map_at(TASK + 1, 11);
	exit_at(TASK + 1, TASK + 1, 12);
	exec_at(TASK + 1, 10, "ls");
	exec_at(TASK + 2, 10, "ls");
	exit_at(TASK + 2, TASK + 2, 12);
	map_at(TASK + 2, 11);
	assert_int_equal(removed(0), 0);
}

TEST_WITH(lost_records_may_be_mappings, set_up, tear_down)
{
	exec_at(TASK, 10, "ls");
	execs_see(e, &(struct pev_record){ .type = PERF_RECORD_LOST, .lost.lost = 3 });
	exit_at(TASK, TASK, 12);
	assert_int_equal(removed(0), 0);
	execs_see(NULL, &(struct pev_record){ .type = PERF_RECORD_LOST });
	assert_int_equal(execs_removed(NULL, is_one, &pid, &pid, &name), 0);
}
