/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of a session: their numbers, the bound of the table, and who waits for names. */
#include "checks.h"

#include "session/stacktable.h"
#include "stream/state/state.h"

#include <pthread.h>
#include <sys/mman.h>

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define BASE UINT64_C(0xffffffff81000000)
#define PARTS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN)

enum { FUNCTIONS = 4000, SIZE = 0x100, DEEP = 60 };

/* A stream of one event whose samples have chains, and a kernel with functions. */
struct world {
	struct stream stream;
	struct stream_opts opts;
	struct stream_event event;
	struct opener opener;
	struct stacktable *table;
	struct fault f;
};

static struct world *w;

static int open_proc(void *ctx, pid_t pid, const char *name)
{
	FILE *f;
	int fd = pid || strcmp(name, "kallsyms") ? -1 : memfd_create("kallsyms", MFD_CLOEXEC);

	if (fd < 0)
		return -ESRCH;
	f = fdopen(dup(fd), "w");
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		fprintf(f, "%016llx T function_%u\n", (unsigned long long)BASE + i * SIZE, i);
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
	w->opener = (struct opener){ open_file, open_proc, NULL };
	w->event = (struct stream_event){ .name = "cpu-clock", .wanted = true, .callchain = true };
	w->event.asked.chain_kernel = true;
	layout_from_sample_type(&w->event.layout, PARTS);
	w->stream.opts = &w->opts;
	w->stream.list.events = &w->event;
	w->stream.list.nevents = w->stream.list.nshown = 1;
	w->table = stacktable_new();
	assert_non_null(w->table);
	assert_int_equal(stacktable_open(w->table, &w->stream, &w->opener, &w->f), 0);
	return 0;
}

static int tear_down(void **state)
{
	stacktable_free(w->table);
	free(w);
	return 0;
}

struct sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time, nr;
	uint64_t ips[DEEP + 1];
};

static int32_t number_of(const uint64_t *ips, size_t n)
{
	struct sample s = {
		.header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, (uint16_t)(offsetof(struct sample, ips) + 8 * n) },
		.pid = 7, .tid = 8, .time = 1, .nr = n,
	};

	if (n)
		memcpy(s.ips, ips, n * sizeof(*ips));
	return stacktable_number(w->table, &w->event, &s.header);
}

/* The stack of functions a, b. */
static int32_t pair(unsigned int a, unsigned int b)
{
	return number_of((const uint64_t[]){ KERNEL, BASE + a * SIZE + 8, BASE + b * SIZE + 8 }, 3);
}

static void expect_frames(size_t stack, const char *const *expected, size_t n)
{
	struct batch *b = stacktable_frames_batch(w->table, 0);
	ssize_t symbol = columns_find(b->columns, "symbol");
	int32_t *frames;
	size_t len;

	assert_int_equal(stacktable_frames(w->table, stack, &frames), n);
	for (size_t i = 0; i < n; i++) {
		const char *text = batch_bytes(b, (size_t)symbol, (size_t)frames[i], &len);

		assert_int_equal(len, strlen(expected[i]));
		assert_memory_equal(text, expected[i], len);
	}
	free(frames);
	batch_release(b);
}

TEST_WITH(numbers, set_up, tear_down)
{
	int32_t *frames;

	assert_int_equal(pair(1, 2), 0);
	assert_int_equal(pair(2, 1), 1);
	assert_int_equal(pair(1, 2), 0);
	assert_int_equal(number_of(NULL, 0), -1);                       /* an empty chain is none */
	assert_int_equal(number_of((const uint64_t[]){ KERNEL }, 1), -1);
	assert_int_equal(stacktable_count(w->table), 2);
	assert_int_equal(stacktable_refused(w->table), 0);
	assert_int_equal(stacktable_frames(w->table, 2, &frames), -1);
	assert_int_equal(stacktable_frames(w->table, 0, &frames), 0);      /* nobody has asked */
	free(frames);
	stacktable_finish(w->table);
	expect_frames(0, (const char *const[]){ "function_1", "function_2" }, 2);
	expect_frames(1, (const char *const[]){ "function_2", "function_1" }, 2);
}

TEST_WITH(tables, set_up, tear_down)
{
	struct batch *stacks, *frames, *more;

	stacks = stacktable_stacks_batch(w->table);
	assert_int_equal(stacks->rows, 0);
	batch_release(stacks);
	pair(1, 2);
	pair(2, 1);
	stacktable_finish(w->table);
	stacks = stacktable_stacks_batch(w->table);
	frames = stacktable_frames_batch(w->table, 0);
	more = stacktable_frames_batch(w->table, 1);
	ARE(NUMBERS(stacks->rows, frames->rows, more->rows), NUMBERS(4, 2, 1));   /* frames of equal content are one */
	ARE(NUMBERS(batch_number(more, 0, 0), batch_number(stacks, 0, 3), batch_number(stacks, 1, 3)), NUMBERS(1, 1, 1));
	assert_true(batch_is_null(frames, (size_t)columns_find(frames->columns, "file"), 0));
	assert_int_equal(batch_number(frames, (size_t)columns_find(frames->columns, "kernel"), 0), 1);
	batch_release(stacks);
	batch_release(frames);
	batch_release(more);
}

static void *wait_for_all(void *table)
{
	return stacktable_wait(table, STACKS_ALL, 60000) ? table : NULL;
}

TEST_WITH(waiting, set_up, tear_down)
{
	pthread_t thread;
	void *there;

	pair(3, 4);
	assert_false(stacktable_wait(w->table, 0, 1));                     /* the session's thread has not looked */
	do   /* it has a time limit of its own */
		stacktable_answer(w->table);
	while (!stacktable_wait(w->table, 0, 0));
	expect_frames(0, (const char *const[]){ "function_3", "function_4" }, 2);
	pair(5, 6);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_all, w->table), 0);
	while (!stacktable_wait(w->table, 1, 1))
		stacktable_answer(w->table);
	assert_int_equal(pthread_join(thread, &there), 0);
	assert_non_null(there);
	expect_frames(1, (const char *const[]){ "function_5", "function_6" }, 2);
	stacktable_finish(w->table);
	assert_true(stacktable_wait(w->table, 1, 0) && stacktable_wait(w->table, STACKS_ALL, 0));
}

/* The i-th chain of DEEP frames. */
static int32_t deep(uint32_t i)
{
	uint64_t ips[DEEP + 1] = { KERNEL };

	for (uint32_t k = 1; k <= DEEP; k++, i = i * 1103515245 + 12345)
		ips[k] = BASE + i % FUNCTIONS * SIZE + 8;
	return number_of(ips, DEEP + 1);
}

/* When the table is full, stacks that have a number keep it; others have none, and are counted. */
TEST_WITH(full, set_up, tear_down)
{
	int32_t *frames;
	uint64_t refused;
	uint32_t i = 0;
	size_t n;

	while (deep(i) >= 0) {
		assert_int_equal(stacktable_count(w->table), ++i);
		assert_in_range(i, 0, 1 << 20);
	}
	n = stacktable_count(w->table);
	assert_in_range(n, 50000, 200000);
	for (uint32_t more = 0; more < 2 * n; more++) {
		assert_int_equal(deep(1 << 24 | more), -1);
		if (!(more % 1000))
			stacktable_answer(w->table);
	}
	refused = stacktable_refused(w->table);
	assert_int_equal(refused, 1 + 2 * n);
	assert_int_equal(deep(0), 0);
	assert_int_equal(deep((uint32_t)n - 1), n - 1);
	assert_int_equal(stacktable_count(w->table), n);
	stacktable_finish(w->table);
	assert_int_equal(stacktable_frames(w->table, n - 1, &frames), DEEP);
	free(frames);
}
