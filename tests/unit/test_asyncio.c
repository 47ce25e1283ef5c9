/* SPDX-License-Identifier: Apache-2.0 */
/* asyncio tasks of Python programs: a memory that has some, and memories that lie or change. The memory is an array here. */
#include "checks.h"

#include "pystack/asyncio.h"

#include <errno.h>

enum { BASE = 0x100000, SIZE = 0x8000 };
enum { RUNTIME = BASE, THREAD = BASE + 0x400, INTERPRETER = BASE + 0x800, CODE = BASE + 0xc00, NAME = BASE + 0x1000,
       FILE_NAME = BASE + 0x1080, LINES = BASE + 0x1100, OBJECTS = BASE + 0x2000, STEP = 0x200 };
enum { CODE_TYPE = 0x777000, GENERATOR = 0x778000, NUMBER = 0x779000, TEXT = 0x77a000 };
enum { INTERPRETER_SIZE = 0x4000, THREAD_SIZE = 0x300 };
enum { NEW = -3, AT_YIELD = -2, AT_AWAIT = -1, RUNS = 0, ENDED = 4 };

struct fake {
	struct memory memory;
	char bytes[SIZE];
	long reads;
	void (*before)(struct fake *f);  /* changes the memory meanwhile; may be NULL */
	struct offsets offsets;
	struct asyncio_offsets at;
	struct codes *codes;
	struct asyncio *asyncio;
};

static int read_fake(const struct memory *m, const struct memory_piece *pieces, size_t n)
{
	struct fake *f = m->ctx;

	for (size_t i = 0; i < n; i++) {
		f->reads++;
		if (f->before)
			f->before(f);
		if (pieces[i].addr < BASE || pieces[i].addr - BASE > SIZE || pieces[i].size > SIZE - (pieces[i].addr - BASE))
			return i ? (int)i : -EFAULT;
		memcpy(pieces[i].to, f->bytes + (pieces[i].addr - BASE), pieces[i].size);
	}
	return (int)n;
}

static void put(struct fake *f, uint64_t addr, uint64_t v, size_t size)
{
	memcpy(f->bytes + (addr - BASE), &v, size);
}

static void put_text(struct fake *f, uint64_t addr, const char *text)
{
	const struct offsets *o = &f->offsets;

	put(f, addr + o->type, TEXT, 8);
	put(f, addr + o->text.state, 1u | 1u << 2 | 1u << 5 | 1u << 6, 4);
	put(f, addr + o->text.length, strlen(text), 8);
	memcpy(f->bytes + (addr - BASE) + o->text.ascii, text, strlen(text));
}

/* What CPython 3.14.8 says on x86-64. */
static const struct {
	uint16_t at;
	uint16_t value;
} stated[] = {
	{ 48, INTERPRETER_SIZE }, { 176, THREAD_SIZE }, { 192, 8 }, { 208, 72 }, { 256, 8 }, { 264, 0 }, { 272, 56 }, { 288, 74 },
	{ 296, 64 }, { 320, 112 }, { 336, 136 }, { 344, 144 }, { 352, 68 }, { 384, 208 }, { 408, 8 }, { 504, 24 }, { 512, 40 },
	{ 520, 32 }, { 576, 16 }, { 584, 24 }, { 600, 16 }, { 608, 32 }, { 624, 32 }, { 632, 16 }, { 640, 40 }, { 680, 72 },
	{ 688, 67 }, { 696, 0 }, { 704, 8 },
};
static const uint64_t module[] = { 168, 136, 96, 108, 109, 128, 152, INTERPRETER_SIZE, 0x100, THREAD_SIZE + 8, 0x200, 0x208, 0x210 };

static void begin(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->memory = (struct memory){ .read = read_fake, .ctx = f };
	for (size_t i = 0; i < sizeof(stated) / sizeof(*stated); i++)
		put(f, RUNTIME + stated[i].at, stated[i].value, 8);
	assert_int_equal(offsets_of(&f->offsets, &f->memory, RUNTIME, 0x030e0800), 0);
	assert_int_equal(asyncio_offsets_stated(&f->at, &f->memory, &f->offsets, RUNTIME), 0);
	assert_true(asyncio_offsets_scan(&f->at, module, sizeof(module)));
	f->at.generators[0] = GENERATOR;
	f->at.number_type = NUMBER;
	f->at.text_type = TEXT;
	put(f, CODE + f->offsets.type, CODE_TYPE, 8);
	put(f, CODE + f->offsets.code.name, NAME, 8);
	put(f, CODE + f->offsets.code.file, FILE_NAME, 8);
	put(f, CODE + f->offsets.code.first_line, 7, 4);
	put_text(f, NAME, "works");
	put_text(f, FILE_NAME, "/job.py");
	f->codes = codes_new(&f->memory, &f->offsets, CODE_TYPE);
	codes_round(f->codes);
	f->asyncio = asyncio_new(&f->memory, &f->at, &f->offsets, f->codes);
}

static void end(struct fake *f)
{
	asyncio_free(f->asyncio);
	codes_free(f->codes);
}

static uint64_t object(int i)
{
	return OBJECTS + (uint64_t)i * STEP;
}

static void put_coroutine(struct fake *f, int i, int state, uint64_t awaits)
{
	uint64_t frame = object(i) + f->at.generator.frame, stack = object(i) + 0x1f0;

	put(f, object(i) + f->at.type, GENERATOR, 8);
	put(f, object(i) + f->at.generator.state, (uint64_t)state, 1);
	put(f, frame + f->offsets.frame.code, CODE, 8);
	put(f, frame + f->offsets.frame.place, CODE + f->offsets.code.instructions - 2, 8);
	put(f, frame + f->at.stack, stack, 8);
	put(f, stack - 8, awaits, 8);
}

/* After the others of the list. */
static void put_task(struct fake *f, int i, uint64_t name, uint64_t coroutine)
{
	uint64_t head = THREAD + f->at.thread.tasks, node = object(i) + f->at.task.node, last;

	memcpy(&last, f->bytes + (head + f->at.list.previous - BASE), 8);
	last = last ? last : head;
	put(f, last + f->at.list.next, node, 8);
	put(f, node + f->at.list.previous, last, 8);
	put(f, node + f->at.list.next, head, 8);
	put(f, head + f->at.list.previous, node, 8);
	put(f, object(i) + f->at.task.name, name, 8);
	put(f, object(i) + f->at.task.coroutine, coroutine, 8);
	put(f, object(i) + f->at.task.is_task, 1, 1);
}

static void put_awaiters(struct fake *f, int i, uint64_t awaiters, bool set)
{
	put(f, object(i) + f->at.task.awaiters, awaiters, 8);
	put(f, object(i) + f->at.task.has_set, set, 1);
}

/* A set of two, in a table with a place that was used, and others that were not. */
static void put_set(struct fake *f, int i, uint64_t a, uint64_t b)
{
	const uint64_t table[] = { 0, 0, a, 1, NAME, UINT64_MAX, 0, 0, b, 2, 0, 0, 0, 0, 0, 0 };

	put(f, object(i) + f->at.set.used, 2, 8);
	put(f, object(i) + f->at.set.mask, sizeof(table) / 16 - 1, 8);
	put(f, object(i) + f->at.set.table, object(i) + 0x100, 8);
	memcpy(f->bytes + (object(i) + 0x100 - BASE), table, sizeof(table));
}

static void put_number(struct fake *f, int i, uint64_t n, uint64_t digits)
{
	put(f, object(i) + f->at.type, NUMBER, 8);
	put(f, object(i) + f->at.number.tag, digits << 3, 8);
	put(f, object(i) + f->at.number.digits, n & ((1u << 30) - 1), 4);
	put(f, object(i) + f->at.number.digits + 4, n >> 30, 4);
}

/* What was taken. */
enum { MOST = 64 };
static struct taken {
	char name[64], function[64];
	enum pystack_task_state state;
	uint64_t awaiters[4];
	size_t n, nawaiters;
	bool torn, cut;
} taken[MOST];
static size_t ntaken;

static void take(void *ctx, const struct pystack_task *task)
{
	struct taken *t = &taken[ntaken];

	if (++ntaken > MOST)
		return;
	*t = (struct taken){ .state = task->state, .n = task->n, .nawaiters = task->nawaiters, .torn = task->torn, .cut = task->cut };
	snprintf(t->name, sizeof(t->name), "%s", task->name);
	for (size_t i = 0; i < task->nawaiters && i < 4; i++)
		t->awaiters[i] = task->awaiters[i];
	for (size_t i = 0; i < task->n; i++)
		assert_non_null(task->frames[i].code->name);
	if (task->n)
		snprintf(t->function, sizeof(t->function), "%s", task->frames[0].code->name);
}

static bool read_all(struct fake *f)
{
	const struct asyncio_thread thread = { .tid = 5, .state = THREAD };

	ntaken = 0;
	return asyncio_read(f->asyncio, &thread, INTERPRETER, take, NULL);
}

/*
 * Tasks 0 (named "first"), 1 (number 7), 2 (has not begun), 3 (ended). 0 waits for 1 and 2: for 1 through a future, object 10, which also 2
 * waits for, in the set 11. The coroutine of 0 awaits object 21, a wrapper of the coroutine 22, which awaits an object that is none.
 */
static void put_program(struct fake *f)
{
	begin(f);
	put_text(f, object(30), "first");
	put_number(f, 31, 7, 1);
	put_number(f, 32, 5000000000, 2);
	put_task(f, 0, object(30), object(20));
	put_task(f, 1, object(31), object(23));
	put_task(f, 2, object(32), object(24));
	put_task(f, 3, object(31), object(25));
	put_awaiters(f, 1, object(10), false);
	put_awaiters(f, 10, object(11), true);
	put_set(f, 11, object(0), object(2));
	put_coroutine(f, 20, AT_AWAIT, object(21));
	put(f, object(21) + f->at.type + 8, object(22), 8);
	put_coroutine(f, 22, AT_AWAIT, object(10));
	put_coroutine(f, 23, AT_YIELD, object(20));
	put_coroutine(f, 24, NEW, 0);
	put_coroutine(f, 25, ENDED, 0);
}

static struct fake program;

static int set_up(void **state)
{
	put_program(&program);
	return 0;
}

static int tear_down(void **state)
{
	end(&program);
	return 0;
}

TEST_WITH(tasks, set_up, tear_down)
{
	assert_true(read_all(&program));
	ARE(NUMBERS(ntaken, taken[0].n, taken[0].nawaiters, taken[0].state), NUMBERS(3, 2, 0, PYSTACK_TASK_WAITS));
	assert_string_equal(taken[0].name, "first");
	assert_string_equal(taken[0].function, "works");
	assert_string_equal(taken[1].name, "Task-7");
	ARE(NUMBERS(taken[1].n, taken[1].nawaiters, taken[1].awaiters[0], taken[1].awaiters[1]), NUMBERS(1, 2, object(0), object(2)));
	assert_string_equal(taken[2].name, "Task-5000000000");
	assert_int_equal(taken[2].state, PYSTACK_TASK_NEW);
	for (size_t i = 0; i < ntaken; i++)
		assert_false(taken[i].torn || taken[i].cut);
}

TEST_WITH(task_that_runs, set_up, tear_down)
{
	const struct code *code;
	struct pystack_frame frames[3] = { 0 };
	uint64_t addrs[3] = { 1, 0, 3 };
	struct asyncio_thread thread = { 5, THREAD, frames, addrs, 3 };
	char *name;

	put_coroutine(&program, 23, RUNS, 0);
	code = codes_at(program.codes, CODE);
	for (int i = 0; i < 3; i++)
		frames[i].code = code;
	addrs[1] = object(23) + program.at.generator.frame;
	ntaken = 0;
	assert_true(asyncio_read(program.asyncio, &thread, INTERPRETER, take, NULL));
	ARE(NUMBERS(taken[1].state, taken[1].n), NUMBERS(PYSTACK_TASK_RUNS, 2));
	assert_true(read_all(&program));       /* a stack without its frame */
	assert_true(taken[1].torn && !taken[1].n);
	assert_null(asyncio_running(program.asyncio, &thread));
	put(&program, THREAD + program.at.thread.loop, object(9), 8);
	put(&program, THREAD + program.at.thread.task, object(1), 8);
	name = asyncio_running(program.asyncio, &thread);
	assert_string_equal(name, "works");   /* it has a number only */
	free(name);
	put(&program, object(1) + program.at.task.name, object(30), 8);
	name = asyncio_running(program.asyncio, &thread);
	assert_string_equal(name, "first");
	free(name);
	addrs[1] = 2;
	assert_null(asyncio_running(program.asyncio, &thread));
}

TEST_WITH(tasks_of_threads_that_have_ended, set_up, tear_down)
{
	uint64_t head, node;

	head = INTERPRETER + program.at.interpreter.tasks;
	node = object(0) + program.at.task.node;
	put(&program, head, node, 8);
	put(&program, head + 8, node, 8);
	put(&program, node, head, 8);
	put(&program, node + 8, head, 8);
	ntaken = 0;
	assert_true(asyncio_read(program.asyncio, NULL, INTERPRETER, take, NULL));
	assert_int_equal(ntaken, 1);
}

/* ---- lies -------------------------------------------------------------------------------- */

TEST_WITH(lists_that_lie, set_up, tear_down)
{
	uint64_t node;

	node = object(2) + program.at.task.node;
	put(&program, node + program.at.list.next, node, 8);
	put(&program, node + program.at.list.previous, node, 8);    /* it leads to itself, and not back */
	assert_false(read_all(&program));
	assert_int_equal(ntaken, 1);     /* nor is the one before still in a list */
	put(&program, node + program.at.list.next, 0, 8);
	put(&program, node + program.at.list.previous, object(1) + program.at.task.node, 8);
	assert_false(read_all(&program));      /* a task that has left the list has ended */
	assert_int_equal(ntaken, 2);
	put(&program, node + program.at.list.next, UINT64_MAX, 8);
	assert_false(read_all(&program));
}

/* A circle without the head: it only looks like a list while the memory changes. */
static void turn(struct fake *f)
{
	uint64_t back = f->reads % 2 ? object(1) : object(2);

	put(f, object(2) + f->at.task.node + f->at.list.next, object(2) + f->at.task.node, 8);
	put(f, object(2) + f->at.task.node + f->at.list.previous, (f->reads > 8 ? object(2) : back) + f->at.task.node, 8);
}

TEST_WITH(lists_without_end, set_up, tear_down)
{
	program.before = turn;
	assert_false(read_all(&program));
	assert_true(program.reads < 40000000);
	assert_false(read_all(&program));      /* there is a limit for all readings together */
}

TEST_WITH(awaiters_that_lie, set_up, tear_down)
{
	put_awaiters(&program, 10, object(10), false);        /* a future that waits for itself */
	assert_true(read_all(&program));
	assert_int_equal(taken[1].nawaiters, 0);
	for (int i = 0; i < 3; i++) {
		const uint64_t masks[] = { UINT64_MAX, 1u << 20, 100 }, tables[] = { object(11), object(11), UINT64_MAX - 64 };

		end(&program);
		put_program(&program);
		put(&program, object(11) + program.at.set.mask, masks[i], 8);
		put(&program, object(11) + program.at.set.table, tables[i], 8);
		read_all(&program);
		ARE(NUMBERS(ntaken, taken[1].nawaiters), NUMBERS(3, 0));
	}
}

TEST_WITH(coroutines_that_lie, set_up, tear_down)
{
	static struct coroutine c;

	put_coroutine(&program, 22, AT_AWAIT, object(20));    /* each awaits the other */
	assert_int_equal(coroutine_read(&c, &program.memory, &program.offsets, &program.at, object(20)), 0);
	assert_int_equal(c.n, COROUTINE_MOST);
	assert_true(c.cut);
	put_coroutine(&program, 22, RUNS, 0);  /* what waits for it would run, too */
	assert_int_equal(coroutine_read(&c, &program.memory, &program.offsets, &program.at, object(20)), -EAGAIN);
	assert_int_equal(c.n, 0);
	put_coroutine(&program, 22, AT_AWAIT, UINT64_MAX - 8);
	assert_int_equal(coroutine_read(&c, &program.memory, &program.offsets, &program.at, object(20)), -EAGAIN);
	assert_int_equal(coroutine_read(&c, &program.memory, &program.offsets, &program.at, object(30)), -ENOENT);
	assert_int_equal(coroutine_read(&c, &program.memory, &program.offsets, &program.at, UINT64_MAX), -ENOENT);
}

/* The coroutine goes on while it is read: each time, or once. */
static long changes;

static void go_on(struct fake *f)
{
	uint64_t frame = object(20) + f->at.generator.frame + f->offsets.frame.place;

	if (changes-- > 0)
		put(f, frame, CODE + f->offsets.code.instructions + (uint64_t)f->reads * 2, 8);
}

TEST_WITH(coroutines_that_change, set_up, tear_down)
{
	static struct coroutine c;

	program.before = go_on;
	changes = 1000;
	assert_int_equal(coroutine_read(&c, &program.memory, &program.offsets, &program.at, object(20)), -EAGAIN);
	changes = 4;
	assert_int_equal(coroutine_read(&c, &program.memory, &program.offsets, &program.at, object(20)), 0);
	assert_int_equal(c.n, 2);
}

/* Whatever is there: each reading ends, and what it says is within its limits. */
TEST_WITH(any_bytes, set_up, tear_down)
{
	srand(1);
	for (int round = 0; round < 2000; round++) {
		end(&program);
		put_program(&program);
		for (int i = rand() % 40; i >= 0; i--) {
			uint64_t at = (uint64_t)rand() % SIZE & ~UINT64_C(7);

			put(&program, BASE + at, rand() % 3 ? object(rand() % 40) + (uint64_t)(rand() % 20) * 8 : (uint64_t)rand() << 20, 8);
		}
		ntaken = 0;
		asyncio_read(program.asyncio, &(struct asyncio_thread){ .state = THREAD }, INTERPRETER, take, NULL);
		assert_true(program.reads < 100000);
		free(asyncio_running(program.asyncio, &(struct asyncio_thread){ .state = THREAD }));
	}
}

/* ---- offsets ------------------------------------------------------------------------------- */

TEST(module_among_variables)
{
	struct asyncio_offsets at = { .interpreter = { .size = INTERPRETER_SIZE }, .thread = { .size = THREAD_SIZE } };
	uint64_t bytes[64], words[13];

	for (size_t i = 0; i < 64; i++)
		bytes[i] = INTERPRETER_SIZE;
	assert_false(asyncio_offsets_scan(&at, bytes, sizeof(bytes)));
	memcpy(bytes + 40, module, sizeof(module));
	assert_true(asyncio_offsets_scan(&at, bytes, sizeof(bytes)));
	ARE(NUMBERS(at.task.name, at.thread.tasks), NUMBERS(136, 0x210));
	assert_false(asyncio_offsets_scan(&at, module, sizeof(module) - 8));
	for (size_t i = 0; i < 13; i++) {        /* no field may lie outside of its structure */
		at = (struct asyncio_offsets){ .interpreter = { .size = INTERPRETER_SIZE }, .thread = { .size = THREAD_SIZE } };
		memcpy(words, module, sizeof(words));
		words[i] = UINT64_MAX - 7;
		assert_false(asyncio_offsets_scan(&at, words, sizeof(words)));
		words[i] = i < 7 ? 168 : i < 9 ? INTERPRETER_SIZE + 8 : THREAD_SIZE + 4;
		if (i && i != 9)
			assert_false(asyncio_offsets_scan(&at, words, sizeof(words)));
	}
}

TEST(stated_lies)
{
	static struct fake f;

	for (uint64_t at = 24; at < 712; at += 8) {
		begin(&f);
		end(&f);
		put(&f, RUNTIME + at, UINT64_MAX - 7, 8);
		if (!asyncio_offsets_stated(&f.at, &f.memory, &f.offsets, RUNTIME))
			assert_true(f.at.generator.size <= ASYNCIO_GENERATOR && f.at.stack < OFFSETS_FRAME && f.at.type < 64);
	}
	assert_int_equal(asyncio_offsets_stated(&f.at, &f.memory, &f.offsets, BASE + SIZE - 8), -EFAULT);
}
