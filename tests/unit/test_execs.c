/* SPDX-License-Identifier: Apache-2.0 */
/* Children whose events the kernel removed at exec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stream/watched/execs.h"

enum { TASK = 7 };

static void exec_at(struct execs *e, uint32_t pid, uint64_t time, const char *name)
{
	execs_see(e, &(struct pev_record){ .type = PERF_RECORD_COMM, .sample_id.time = time,
					   .comm = { .pid = pid, .tid = pid, .comm = name, .exec = true } });
}

static void map_at(struct execs *e, uint32_t pid, uint64_t time)
{
	execs_see(e, &(struct pev_record){ .type = PERF_RECORD_MMAP2, .sample_id.time = time, .mmap = { .pid = pid, .tid = pid } });
}

static void exit_at(struct execs *e, uint32_t pid, uint32_t tid, uint64_t time)
{
	execs_see(e, &(struct pev_record){ .type = PERF_RECORD_EXIT, .sample_id.time = time, .task = { .pid = pid, .tid = tid } });
}

static bool is_one(const void *ctx, pid_t pid)
{
	return pid == *(const pid_t *)ctx;
}

static size_t removed(const struct execs *e, pid_t but, pid_t *pid, const char **name)
{
	return execs_removed(e, is_one, &but, pid, name);
}

static void an_exit_without_a_mapping_is_a_removal(void **state)
{
	struct execs *e = execs_new();
	const char *name = NULL;
	pid_t pid = 0;

	exec_at(e, TASK, 10, "su");
	assert_int_equal(removed(e, 0, &pid, &name), 0);   /* it may still map */
	exit_at(e, TASK, TASK + 1, 11);                    /* a thread */
	assert_int_equal(removed(e, 0, &pid, &name), 0);
	exit_at(e, TASK, TASK, 12);
	assert_int_equal(removed(e, 0, &pid, &name), 1);
	assert_int_equal(pid, TASK);
	assert_string_equal(name, "su");
	assert_int_equal(removed(e, TASK, &pid, &name), 0);
	execs_free(e);
}

static void a_program_that_was_watched_before_counts_as_well(void **state)
{
	struct execs *e = execs_new();
	const char *name;
	pid_t pid;

	exec_at(e, TASK, 10, "sh");
	map_at(e, TASK, 11);
	exec_at(e, TASK, 20, "su");
	exit_at(e, TASK, TASK, 21);
	assert_int_equal(removed(e, 0, &pid, &name), 1);
	assert_string_equal(name, "su");
	execs_free(e);
}

/* Records of a task that changes its CPU are in several rings, which are read one after another. */
static void the_order_of_reading_does_not_matter(void **state)
{
	struct execs *e = execs_new();
	const char *name;
	pid_t pid;

	map_at(e, TASK, 11);
	exec_at(e, TASK, 10, "ls");
	exit_at(e, TASK, TASK, 12);
	map_at(e, TASK + 1, 11);
	exit_at(e, TASK + 1, TASK + 1, 12);
	exec_at(e, TASK + 1, 10, "ls");
	exec_at(e, TASK + 2, 10, "ls");
	exit_at(e, TASK + 2, TASK + 2, 12);
	map_at(e, TASK + 2, 11);
	assert_int_equal(removed(e, 0, &pid, &name), 0);
	execs_free(e);
}

static void lost_records_may_be_mappings(void **state)
{
	struct execs *e = execs_new();
	const char *name;
	pid_t pid;

	exec_at(e, TASK, 10, "ls");
	execs_see(e, &(struct pev_record){ .type = PERF_RECORD_LOST, .lost.lost = 3 });
	exit_at(e, TASK, TASK, 12);
	assert_int_equal(removed(e, 0, &pid, &name), 0);
	execs_free(e);
	execs_see(NULL, &(struct pev_record){ .type = PERF_RECORD_LOST });
	assert_int_equal(removed(NULL, 0, &pid, &name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exit_without_a_mapping_is_a_removal),
		cmocka_unit_test(a_program_that_was_watched_before_counts_as_well),
		cmocka_unit_test(the_order_of_reading_does_not_matter),
		cmocka_unit_test(lost_records_may_be_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
