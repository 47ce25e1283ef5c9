/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks, kept once and up to a bound: which go, which stay, and that what stays keeps its names. */
#include "checks.h"

#include "engine/callstacks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define BASE UINT64_C(0xffffffff81000000)

/* FEW are below the bound. */
enum { FUNCTIONS = 4000, FEW = 120, MAX_BYTES = 64 << 10 };

struct world {
	struct opener opener;
	struct names names;
	struct callstacks *stacks;
	struct callstack *seen[FUNCTIONS];
};

static struct world *w;

static int open_proc(void *ctx, pid_t pid, const char *name)
{
	FILE *f;
	int fd = pid ? -1 : memfd_create("kallsyms", MFD_CLOEXEC);

	if (fd < 0)
		return -ESRCH;
	f = fdopen(dup(fd), "w");
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		fprintf(f, "%016llx T function_%u\n", (unsigned long long)BASE + i * 0x100, i);
	fclose(f);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int open_file(void *ctx, pid_t pid, const char *path)
{
	return -ENOENT;
}

static int set_up(void **state)
{
	w = calloc(1, sizeof(*w));
	w->opener = (struct opener){ open_file, open_proc, w };
	w->names.symbolizer = symbolizer_new(&(struct symbolizer_opts){ .opener = &w->opener });
	w->stacks = callstacks_new(&w->names, true, MAX_BYTES);
	assert_non_null(w->names.symbolizer);
	assert_int_equal(symbolizer_read_kernel(w->names.symbolizer), 0);   /* as names_open() does */
	assert_non_null(w->stacks);
	return 0;
}

static int tear_down(void **state)
{
	callstacks_free(w->stacks);
	symbolizer_free(w->names.symbolizer);
	free(w);
	return 0;
}

/* Of two frames: function i, called by function 0. */
static struct callstack *stack_of(uint64_t i, pid_t pid)
{
	const uint64_t ips[] = { KERNEL, BASE + i * 0x100 + 8, BASE + 16 };

	return callstacks_get(w->stacks, ips, 3, pid, 1);
}

static void assert_names(const struct callstack *stack, unsigned int i)
{
	char name[32];

	snprintf(name, sizeof(name), "function_%u", i);
	assert_int_equal(stack->n, 2);
	assert_string_equal(stack->frames[0]->symbol, name);
	assert_string_equal(stack->frames[0]->dso, "[kernel.kallsyms]");
	assert_int_equal(stack->frames[0]->offset, 8);
	assert_string_equal(stack->frames[1]->symbol, "function_0");
}

TEST_WITH(one_for_all_processes, set_up, tear_down)
{
	struct callstack *stack = stack_of(1, 10);

	assert_names(stack, 1);
	assert_ptr_equal(stack_of(1, 11), stack);
	assert_ptr_not_equal(stack_of(2, 10), stack);
	for (int i = 0; i < 100; i++)    /* below the bound all stay */
		callstacks_rest(w->stacks, NULL, NULL);
	assert_int_equal(callstacks_count(w->stacks), 2);
	assert_ptr_equal(stack_of(1, 10), stack);
}

/* Rows are by pointers: frames of no file must not make two of them. */
TEST_WITH(no_file_is_one_file, set_up, tear_down)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_USER, 0x1234 };
	const struct callstack *stack = callstacks_get(w->stacks, ips, 2, 10, 1);

	assert_int_equal(stack->n, 1);
	assert_string_equal(stack->frames[0]->dso, "[unknown]");
	assert_ptr_equal(stack->frames[0]->dso, callstacks_broken()->dso);
	callstacks_rest(w->stacks, NULL, NULL);     /* and marks nothing of it */
}

static void fill(unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		w->seen[i] = stack_of(i, 10);
}

/* What comes in an interval stays until its end, however much it is. */
TEST_WITH(an_interval_has_all_its_stacks, set_up, tear_down)
{
	fill(0, FUNCTIONS);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		assert_names(w->seen[i], i);
	assert_true(callstacks_bytes(w->stacks) > MAX_BYTES);
	callstacks_rest(w->stacks, NULL, NULL);
	assert_int_equal(callstacks_count(w->stacks), 0);
	assert_int_equal(callstacks_bytes(w->stacks), 0);
}

static void keep_one(void *ctx)
{
	callstacks_keep(w->seen[5]);
}

/* Two intervals that are together beyond the bound: of the first one those stay that the second one had, too,
 * and what the caller keeps. */
TEST_WITH(the_least_used_go, set_up, tear_down)
{
	struct callstack *used;

	fill(0, FEW);
	callstacks_rest(w->stacks, keep_one, w);
	assert_int_equal(callstacks_count(w->stacks), FEW);
	used = w->seen[7];
	assert_ptr_equal(stack_of(7, 10), used);
	for (unsigned int i = FEW; callstacks_bytes(w->stacks) <= MAX_BYTES; i++)
		fill(i, i + 1);
	assert_true(callstacks_count(w->stacks) < FEW + FEW / 2);
	callstacks_rest(w->stacks, keep_one, w);
	assert_true(callstacks_count(w->stacks) < FEW);
	assert_true(callstacks_bytes(w->stacks) < MAX_BYTES);
	assert_names(w->seen[5], 5);
	assert_names(w->seen[FEW], FEW);
	assert_names(used, 7);
	assert_ptr_equal(stack_of(7, 10), used);
	assert_ptr_equal(stack_of(FEW, 10), w->seen[FEW]);
	assert_names(stack_of(3, 10), 3);      /* gone, and here again */
}

/* A stack is kept for the interval in which it is asked for, not for ever. */
TEST_WITH(what_was_kept_goes_later, set_up, tear_down)
{
	fill(0, FUNCTIONS);
	callstacks_rest(w->stacks, keep_one, w);
	assert_int_equal(callstacks_count(w->stacks), 1);
	assert_names(w->seen[5], 5);
	fill(6, FUNCTIONS);
	callstacks_rest(w->stacks, NULL, NULL);
	assert_int_equal(callstacks_count(w->stacks), 0);
}
