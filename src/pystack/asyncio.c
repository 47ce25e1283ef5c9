/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/asyncio.h"

#include "base/room.h"
#include "pystack/asyncio_offsets.h"
#include "pystack/image.h"
#include "pystack/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY(a) (sizeof(a) / sizeof(*(a)))
#define FIELD(member) offsetof(struct asyncio_offsets, member)

enum { MINOR = 14, STATED_SIZE = 712, OFFSETS_WORD = 8, MAX_DATA = 16 << 20 };
enum { IN_RUNTIME = 1 << 24, IN_GENERATOR = ASYNCIO_GENERATOR - OFFSETS_FRAME, IN_HEAD = 64 };

/* ---- _Py_DebugOffsets ---------------------------------------------------------------- */

static const struct {
	uint16_t at, field;
	uint32_t below;                  /* the largest sensible value + 1 */
} stated[] = {
	{ 48, FIELD(interpreter.size), IN_RUNTIME },
	{ 176, FIELD(thread.size), IN_RUNTIME },
	{ 296, FIELD(stack), OFFSETS_FRAME - OFFSETS_WORD },
	{ 408, FIELD(type), IN_HEAD },
	{ 504, FIELD(set.used), IN_HEAD },
	{ 512, FIELD(set.table), IN_HEAD },
	{ 520, FIELD(set.mask), IN_HEAD },
	{ 576, FIELD(number.tag), IN_HEAD },
	{ 584, FIELD(number.digits), IN_HEAD },
	{ 680, FIELD(generator.frame), IN_GENERATOR },
	{ 688, FIELD(generator.state), IN_GENERATOR },
	{ 696, FIELD(list.next), OFFSETS_WORD + 1 },
	{ 704, FIELD(list.previous), OFFSETS_WORD + 1 },
};

int asyncio_offsets_stated(struct asyncio_offsets *out, const struct memory *m, const struct offsets *l, uint64_t runtime)
{
	char bytes[STATED_SIZE];
	int rc = memory_get(m, runtime, bytes, sizeof(bytes));

	for (size_t i = 0; !rc && i < ARRAY(stated); i++) {
		uint64_t v = memory_field(bytes, stated[i].at, OFFSETS_WORD);

		rc = v < stated[i].below ? 0 : -EPROTO;
		memcpy((char *)out + stated[i].field, &v, sizeof(v));
	}
	out->generator.size = out->generator.frame + (out->stack + OFFSETS_WORD > l->frame.size ? out->stack + OFFSETS_WORD : l->frame.size);
	if (out->generator.state >= out->generator.size)
		out->generator.size = out->generator.state + 1;
	return rc;
}

/* ---- the section .AsyncioDebug ------------------------------------------------------- */

/* Its words. Each offset is one of a field of `size` bytes in the structure whose size is word `in`. */
static const struct {
	uint16_t field, in, size;
} module[] = {
	{ FIELD(task.size), 0, 0 },
	{ FIELD(task.name), 0, OFFSETS_WORD },
	{ FIELD(task.awaiters), 0, OFFSETS_WORD },
	{ FIELD(task.is_task), 0, 1 },
	{ FIELD(task.has_set), 0, 1 },
	{ FIELD(task.coroutine), 0, OFFSETS_WORD },
	{ FIELD(task.node), 0, 2 * OFFSETS_WORD },
	{ FIELD(interpreter.size), 7, 0 },
	{ FIELD(interpreter.tasks), 7, 2 * OFFSETS_WORD },
	{ FIELD(thread.size), 9, 0 },
	{ FIELD(thread.loop), 9, OFFSETS_WORD },
	{ FIELD(thread.task), 9, OFFSETS_WORD },
	{ FIELD(thread.tasks), 9, 2 * OFFSETS_WORD },
};
enum { TASK_SIZE = 0, INTERPRETER_SIZE = 7, THREAD_SIZE = 9, WORDS = ARRAY(module) };

/* The thread state with asyncio's fields is the larger one of two. */
static bool is_module(const struct asyncio_offsets *known, const uint64_t words[WORDS])
{
	if (words[INTERPRETER_SIZE] != known->interpreter.size || words[TASK_SIZE] > ASYNCIO_TASK ||
	    words[THREAD_SIZE] < known->thread.size || words[THREAD_SIZE] > IN_RUNTIME)
		return false;
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t whole = words[module[i].in];

		if (module[i].size > whole || words[i] > whole - module[i].size || (module[i].size && !words[i]))
			return false;
	}
	return true;
}

bool asyncio_offsets_scan(struct asyncio_offsets *out, const void *bytes, size_t size)
{
	uint64_t words[WORDS];

	for (size_t at = 0; at + sizeof(words) <= size; at += OFFSETS_WORD) {
		memcpy(words, (const char *)bytes + at, sizeof(words));
		if (!is_module(out, words))
			continue;
		for (size_t i = 0; i < WORDS; i++)
			memcpy((char *)out + module[i].field, &words[i], sizeof(*words));
		return true;
	}
	return false;
}

/* Looks through the variables of the image that begins there. */
static bool scan_image(struct asyncio_offsets *out, const struct memory *m, uint64_t start)
{
	struct image image;
	bool found = false;
	char *bytes;

	if (image_open(&image, m, start) || !image.ndata || image.ndata > MAX_DATA)
		return false;
	bytes = malloc(image.ndata);
	if (bytes && !memory_get(m, image.data, bytes, image.ndata))
		found = asyncio_offsets_scan(out, bytes, image.ndata);
	free(bytes);
	return found;
}

struct search {
	struct asyncio_offsets *out;
	const struct memory *memory;
	bool found;
};

static bool look(void *ctx, const struct procmaps_line *map)
{
	const char *slash = strrchr(map->path, '/');
	struct search *s = ctx;

	if (slash && !strncmp(slash, "/_asyncio.", strlen("/_asyncio.")))
		s->found = scan_image(s->out, s->memory, map->start);
	return s->found;
}

/* Some interpreters have their modules in themselves. */
static int find_module(struct asyncio_offsets *out, const struct memory *m, const struct runtime *r)
{
	struct search s = { out, m, false };
	int rc = images_each(m, look, &s);

	if (rc)
		return rc;
	return s.found || scan_image(out, m, r->image) ? 0 : -ENOENT;
}

static int find_types(struct asyncio_offsets *out, const struct memory *m, const struct runtime *r)
{
	const struct {
		const char *name;
		uint64_t *addr;
	} all[] = {
		{ "PyGen_Type", &out->generators[0] }, { "PyCoro_Type", &out->generators[1] }, { "PyAsyncGen_Type", &out->generators[2] },
		{ "PyLong_Type", &out->number_type }, { "PyUnicode_Type", &out->text_type },
	};
	struct image image;
	int rc = image_open(&image, m, r->image);

	for (size_t i = 0; !rc && i < ARRAY(all); i++)
		rc = image_symbol(&image, all[i].name, all[i].addr);
	return rc;
}

int asyncio_offsets_find(struct asyncio_offsets *out, const struct memory *m, const struct runtime *r)
{
	int rc = r->offsets.minor == MINOR ? 0 : -ENOTSUP;

	*out = (struct asyncio_offsets){ 0 };
	if (!rc)
		rc = asyncio_offsets_stated(out, m, &r->offsets, r->address);
	if (!rc)
		rc = find_module(out, m, r);
	return rc ? rc : find_types(out, m, r);
}

enum { COROUTINE_TRIES = 3, COROUTINE_TAG_BITS = 7, COROUTINE_WORD = 8, COROUTINE_HEAD = 128 };

/* CPython's own states of a generator's frame: what is below 0 is not running, from 1 on it has ended. */
enum { AT_BEGINNING = -3, AT_AWAIT = -1, RUNNING = 0 };

struct generator {
	uint64_t object;
	int8_t state;
	struct coroutine_frame frame;
	uint64_t stack;
};

static bool is_generator(const struct asyncio_offsets *a, uint64_t type)
{
	for (size_t i = 0; i < ASYNCIO_TYPES; i++)
		if (a->generators[i] == type)
			return type;
	return false;
}

/* -ENOENT: it is none. */
static int read_generator(struct generator *g, const struct memory *m, const struct offsets *l, const struct asyncio_offsets *a,
			  uint64_t object)
{
	char bytes[ASYNCIO_GENERATOR];
	const char *frame = bytes + a->generator.frame;
	int rc = memory_get(m, object, bytes, a->generator.size);

	if (rc)
		return rc;
	*g = (struct generator){
		.object = object,
		.state = (int8_t)memory_field(bytes, a->generator.state, 1),
		.frame = { memory_field(frame, l->frame.code, COROUTINE_WORD) & ~(uint64_t)COROUTINE_TAG_BITS, memory_field(frame, l->frame.place, COROUTINE_WORD) },
		.stack = memory_field(frame, a->stack, COROUTINE_WORD) & ~(uint64_t)COROUTINE_TAG_BITS,
	};
	return is_generator(a, memory_field(bytes, a->type, COROUTINE_WORD)) ? 0 : -ENOENT;
}

/* What an object is, and its first field: of what asend(), anext() and __await__() return, it is what they were called for. */
static int read_object(const struct memory *m, const struct asyncio_offsets *a, uint64_t object, uint64_t *type, uint64_t *first)
{
	char bytes[COROUTINE_HEAD];
	int rc = memory_get(m, object, bytes, a->type + 2 * COROUTINE_WORD);

	if (rc)
		return rc;
	*type = memory_field(bytes, a->type, COROUTINE_WORD);
	*first = memory_field(bytes, a->type + COROUTINE_WORD, COROUTINE_WORD);
	return 0;
}

/* The generator that it awaits. 0: none, but something else. */
static int awaited(const struct memory *m, const struct asyncio_offsets *a, const struct generator *g, uint64_t *object)
{
	uint64_t at = 0, type = 0, first = 0;
	int rc = memory_word(m, g->stack - COROUTINE_WORD, &at);

	*object = 0;
	at &= ~(uint64_t)COROUTINE_TAG_BITS;
	if (!rc)
		rc = read_object(m, a, at, &type, &first);
	if (!rc && is_generator(a, type))
		*object = at;
	else if (!rc && !read_object(m, a, first, &type, &at) && is_generator(a, type))
		*object = first;
	return rc;
}

static bool is_same(const struct generator *a, const struct generator *b)
{
	return a->state == b->state && a->frame.code == b->frame.code && a->frame.place == b->frame.place && a->stack == b->stack;
}

/* 0, or -EAGAIN. */
static int still_there(const struct memory *m, const struct offsets *l, const struct asyncio_offsets *a, const struct generator *was)
{
	struct generator now;

	return !read_generator(&now, m, l, a, was->object) && is_same(&now, was) ? 0 : -EAGAIN;
}

static enum coroutine_state state_of(const struct generator *g)
{
	return g->state == AT_BEGINNING ? COROUTINE_NEW : g->state < RUNNING ? COROUTINE_WAITS : g->state == RUNNING ? COROUTINE_RUNS :
	       COROUTINE_ENDED;
}

static int walk(struct coroutine *out, const struct memory *m, const struct offsets *l, const struct asyncio_offsets *a,
		const struct generator *first)
{
	struct generator g = *first;
	uint64_t next;
	int rc = 0;

	for (next = g.object; !rc && next && out->n < COROUTINE_MOST;) {
		out->v[out->n++] = g.frame;
		next = 0;
		if (g.state == AT_AWAIT)
			rc = awaited(m, a, &g, &next);
		if (!rc && next)
			rc = read_generator(&g, m, l, a, next);
		if (!rc && next && g.state >= RUNNING)
			rc = -EAGAIN;    /* it goes on at this moment */
	}
	out->cut = next;
	return rc ? -EAGAIN : still_there(m, l, a, first) || still_there(m, l, a, &g) ? -EAGAIN : 0;
}

int coroutine_read(struct coroutine *out, const struct memory *m, const struct offsets *l, const struct asyncio_offsets *a,
		   uint64_t object)
{
	struct generator first;
	int rc = -EAGAIN;

	for (int i = 0; i < COROUTINE_TRIES && rc == -EAGAIN; i++) {
		out->n = 0;
		out->cut = false;
		rc = read_generator(&first, m, l, a, object);
		if (rc)
			return rc == -EFAULT ? -ENOENT : rc;
		out->state = state_of(&first);
		if (out->state == COROUTINE_RUNS || out->state == COROUTINE_ENDED)
			return 0;
		rc = walk(out, m, l, a, &first);
	}
	if (rc)
		out->n = 0;
	return rc;
}

/* The code object of its function. 0, -ENOENT, or another -errno. */
static int coroutine_code(const struct memory *m, const struct offsets *l, const struct asyncio_offsets *a, uint64_t object, uint64_t *code)
{
	struct generator g;
	int rc = read_generator(&g, m, l, a, object);

	*code = rc ? 0 : g.frame.code;
	return rc;
}

enum { WORD = 8, HEAD = 128, TRIES = 5, MOST_BACK = 1 << 8, FAR = 16, TAG_BITS = 7, MAX_SET = 1 << 12, MAX_FOUND = 256, DIGIT_BITS = 30, DIGITS = 2, TAG_SHIFT = 3 };
/* Parts of structures that are looked at in a process: some seconds' work, enough for 100,000 tasks. */
enum { BUDGET = 1 << 22 };

struct asyncio {
	const struct memory *memory;
	const struct offsets *offsets;
	struct asyncio_offsets at;
	struct codes *codes;
	size_t future, set_head, node;   /* bytes that are read of a future, a set, a node of a list */
	long budget;
	struct coroutine coroutine;
	struct pystack_frame frames[COROUTINE_MOST];
	uint64_t found[MAX_FOUND];       /* tasks and futures that wait for a task */
	uint64_t awaiters[MAX_FOUND];    /* the tasks among them */
	uint64_t set[2 * MAX_SET];
};

/* Bytes that cover the fields at these offsets. */
static size_t covering(const uint64_t *offsets, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = offsets[i] > most ? offsets[i] : most;
	return (size_t)most + WORD;
}

struct asyncio *asyncio_new(const struct memory *m, const struct asyncio_offsets *a, const struct offsets *l, struct codes *codes)
{
	struct asyncio *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->memory = m;
	s->offsets = l;
	s->at = *a;
	s->codes = codes;
	s->future = covering((uint64_t[]){ a->task.awaiters, a->task.is_task, a->task.has_set }, 3);
	s->future = s->future < a->task.size ? s->future : a->task.size;
	s->set_head = covering((uint64_t[]){ a->set.used, a->set.table, a->set.mask }, 3);
	s->node = covering((uint64_t[]){ a->list.next, a->list.previous }, 2);
	s->budget = BUDGET;
	return s;
}

void asyncio_free(struct asyncio *s)
{
	free(s);
}

static int read_task(const struct asyncio *s, uint64_t task, char bytes[ASYNCIO_TASK])
{
	return memory_get(s->memory, task, bytes, s->at.task.size);
}

static uint64_t pointer_in(const char *bytes, uint64_t offset)
{
	return memory_field(bytes, offset, WORD) & ~(uint64_t)TAG_BITS;
}

/* ---- names ----------------------------------------------------------------------------- */

/* A task that was given no name has a number, from which Python makes its name when somebody asks for it. The number may be any: it has
 * digits of 30 bits. */
static bool read_number(const struct asyncio *s, uint64_t object, uint64_t *number)
{
	char bytes[HEAD];
	const size_t digits = s->at.number.digits + sizeof(uint32_t), tag = s->at.number.tag + WORD;
	uint64_t n;

	if (memory_get(s->memory, object, bytes, digits > tag ? digits : tag))
		return false;
	n = memory_field(bytes, s->at.number.tag, WORD) >> TAG_SHIFT;
	*number = memory_field(bytes, s->at.number.digits, sizeof(uint32_t));
	if (n < DIGITS)
		return true;
	if (n > DIGITS || memory_get(s->memory, object, bytes, s->at.number.digits + 2 * sizeof(uint32_t)))
		return false;
	*number |= memory_field(bytes, s->at.number.digits + sizeof(uint32_t), sizeof(uint32_t)) << DIGIT_BITS;
	return true;
}

/* malloc'ed, or NULL. */
static char *name_at(const struct asyncio *s, uint64_t object)
{
	uint64_t type, number;
	char *name = NULL;

	if (memory_word(s->memory, object + s->at.type, &type))
		return NULL;
	if (type == s->at.text_type)
		return text_at(s->memory, s->offsets, object);
	if (type != s->at.number_type || !read_number(s, object, &number) || asprintf(&name, "Task-%llu", (unsigned long long)number) < 0)
		return NULL;
	return name;
}

static bool is_number(const char *name)
{
	const char *digits = strncmp(name, "Task-", strlen("Task-")) ? "" : name + strlen("Task-");

	return *digits && !digits[strspn(digits, "0123456789")];
}

static char *function_name(const struct asyncio *s, uint64_t coroutine)
{
	const struct code *code;
	uint64_t addr;

	if (coroutine_code(s->memory, s->offsets, &s->at, coroutine, &addr))
		return NULL;
	code = codes_at(s->codes, addr);
	return code ? strdup(code->name) : NULL;
}

/* Where the coroutine's frame is in the stack; thread->n: nowhere. */
static size_t frame_in(const struct asyncio_thread *thread, uint64_t frame)
{
	size_t i = 0;

	while (i < thread->n && thread->addrs[i] != frame)
		i++;
	return i;
}

char *asyncio_running(struct asyncio *s, const struct asyncio_thread *thread)
{
	uint64_t loop = 0, task = 0, coroutine;
	const struct memory_piece pieces[] = {
		{ thread->state + s->at.thread.loop, &loop, WORD }, { thread->state + s->at.thread.task, &task, WORD },
	};
	char bytes[ASYNCIO_TASK], *name, *function;

	if (s->memory->read(s->memory, pieces, 2) != 2 || !loop || !task || read_task(s, task, bytes))
		return NULL;
	coroutine = pointer_in(bytes, s->at.task.coroutine);
	if (frame_in(thread, coroutine + s->at.generator.frame) == thread->n)
		return NULL;
	name = name_at(s, pointer_in(bytes, s->at.task.name));
	if (!name || !is_number(name))
		return name;
	function = function_name(s, coroutine);
	if (!function)
		return name;
	free(name);
	return function;
}

/* ---- who waits for a task ---------------------------------------------------------------- */

/* False: there are too many. */
static bool find_once(struct asyncio *s, size_t *n, uint64_t object)
{
	for (size_t i = 0; i < *n; i++)
		if (s->found[i] == object)
			return true;
	if (*n == MAX_FOUND)
		return false;
	s->found[(*n)++] = object;
	return true;
}

/* A set: its table has an object and its hash in each place that is used, -1 as the hash of one that was. False: not all were read. */
static bool find_set(struct asyncio *s, size_t *n, uint64_t set)
{
	char bytes[HEAD];
	bool all = true;
	uint64_t size;

	if (memory_get(s->memory, set, bytes, s->set_head))
		return false;
	size = memory_field(bytes, s->at.set.mask, WORD) + 1;
	if (!size || size > MAX_SET)
		return false;
	s->budget -= (long)size / 8 + 1;
	if (memory_get(s->memory, memory_field(bytes, s->at.set.table, WORD), s->set, size * 2 * WORD))
		return false;
	for (size_t i = 0; i < size; i++)
		if (s->set[2 * i] && s->set[2 * i + 1] != UINT64_MAX)
			all &= find_once(s, n, s->set[2 * i]);
	return all;
}

static bool find_awaiters(struct asyncio *s, size_t *n, const char *bytes)
{
	uint64_t awaiters = pointer_in(bytes, s->at.task.awaiters);

	if (!awaiters)
		return true;
	return memory_field(bytes, s->at.task.has_set, 1) ? find_set(s, n, awaiters) : find_once(s, n, awaiters);
}

/* Futures, such as that of gather(), stand between tasks: who waits for these waits for the task. */
static void read_awaiters(struct asyncio *s, const char *task, struct pystack_task *out)
{
	char bytes[ASYNCIO_TASK];
	size_t n = 0;
	bool all = find_awaiters(s, &n, task);

	out->awaiters = s->awaiters;
	for (size_t i = 0; i < n && s->budget > 0; i++, s->budget--)
		if (memory_get(s->memory, s->found[i], bytes, s->future))
			all = false;
		else if (memory_field(bytes, s->at.task.is_task, 1))
			s->awaiters[out->nawaiters++] = s->found[i];
		else
			all &= find_awaiters(s, &n, bytes);
	out->awaiters_cut = !all;
}

/* ---- a task -------------------------------------------------------------------------------- */

static void name_frames(struct asyncio *s, struct pystack_task *out)
{
	const struct coroutine *c = &s->coroutine;

	out->frames = s->frames;
	out->cut = c->cut;
	for (size_t i = c->n; i-- > 0;) {
		const struct code *code = codes_at(s->codes, c->v[i].code);

		out->torn |= !code;
		if (code)
			s->frames[out->n++] = (struct pystack_frame){ code, codes_line(s->codes, code, c->v[i].place), 0 };
	}
	if (out->torn)
		out->n = 0;
}

/* The part of the thread's stack that the coroutine has called. */
static void take_frames(struct pystack_task *out, const struct asyncio_thread *thread, uint64_t frame)
{
	const size_t i = thread ? frame_in(thread, frame) : 0;

	out->torn = !thread || i == thread->n;
	if (out->torn)
		return;
	out->frames = thread->frames;
	out->n = i + 1;
}

/* False: it has ended. */
static bool read_stack(struct asyncio *s, const struct asyncio_thread *thread, uint64_t object, struct pystack_task *out)
{
	int rc = coroutine_read(&s->coroutine, s->memory, s->offsets, &s->at, object);

	s->budget -= 3 * (long)s->coroutine.n + 1;
	out->state = rc || s->coroutine.state == COROUTINE_WAITS ? PYSTACK_TASK_WAITS : s->coroutine.state == COROUTINE_NEW ?
		     PYSTACK_TASK_NEW : PYSTACK_TASK_RUNS;
	out->torn = rc == -EAGAIN;
	if (!rc && s->coroutine.state == COROUTINE_ENDED)
		return false;
	if (out->state == PYSTACK_TASK_RUNS)
		take_frames(out, thread, object + s->at.generator.frame);
	else if (!rc)
		name_frames(s, out);
	return true;
}

/* The node behind `node`, if that leads back. 0, or -EAGAIN. */
static int next_node(const struct asyncio *s, uint64_t node, uint64_t *next)
{
	char bytes[HEAD];
	uint64_t back;

	if (memory_word(s->memory, node + s->at.list.next, next) || memory_get(s->memory, *next, bytes, s->node))
		return -EAGAIN;
	back = memory_field(bytes, s->at.list.previous, WORD);
	return back == node ? 0 : -EAGAIN;
}

/* Whether it is still the task of which these bytes were read: one that ends leaves the list, and its memory is used again. */
static bool is_still(const struct asyncio *s, uint64_t addr, const char *was)
{
	const uint64_t fields[] = { s->at.task.coroutine, s->at.task.name };
	char now[ASYNCIO_TASK];
	uint64_t next;
	bool same = !read_task(s, addr, now) && !next_node(s, addr + s->at.task.node, &next);

	for (size_t i = 0; same && i < 2; i++)
		same = pointer_in(now, fields[i]) == pointer_in(was, fields[i]);
	return same;
}

/* Sets out->name, malloc'ed or NULL. 0; -ENOENT: it has ended; -EAGAIN: another one may have taken its place. */
static int read_once(struct asyncio *s, const struct asyncio_thread *thread, struct pystack_task *out)
{
	char bytes[ASYNCIO_TASK];
	uint64_t coroutine;

	s->budget -= 5;
	if (read_task(s, out->id, bytes))
		return -ENOENT;
	coroutine = pointer_in(bytes, s->at.task.coroutine);
	if (!coroutine || !read_stack(s, thread, coroutine, out))
		return -ENOENT;
	out->name = name_at(s, pointer_in(bytes, s->at.task.name));
	s->budget -= out->name ? (long)strlen(out->name) / WORD : 0;
	read_awaiters(s, bytes, out);
	return !is_still(s, out->id, bytes) ? -EAGAIN : 0;
}

static void take_task(struct asyncio *s, const struct asyncio_thread *thread, uint64_t addr,
		      void (*take)(void *ctx, const struct pystack_task *task), void *ctx)
{
	struct pystack_task out;
	char *name = NULL;
	int rc = -EAGAIN;

	for (int i = 0; i < TRIES && !name && (!rc || rc == -EAGAIN); i++) {
		out = (struct pystack_task){ .tid = thread ? thread->tid : 0, .id = addr };
		rc = read_once(s, thread, &out);
		name = (char *)(uintptr_t)out.name;
		if (rc) {
			free(name);
			name = NULL;
		}
	}
	out.name = name ? name : "";
	if (!rc)
		take(ctx, &out);
	free(name);
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Addresses of the list's nodes, malloc'ed: as many as can be read. The last of them may have left the list meanwhile; then it goes on
 * from one before, further back each time. 0, -EAGAIN, or -ENOMEM. */
static int list_nodes(struct asyncio *s, uint64_t head, uint64_t **nodes, size_t *n)
{
	size_t room = 0, back = 1, furthest = 0;
	uint64_t node = head;

	for (*n = 0; s->budget > 0; s->budget--) {
		if (next_node(s, node, &node)) {
			if (back > MOST_BACK)
				return -EAGAIN;
			*n -= back < *n ? back : *n;
			node = *n ? (*nodes)[*n - 1] : head;
			back *= 2;
			continue;
		}
		if (node == head)
			return 0;
		if (!ROOM_FOR(*nodes, room, *n, 1))
			return -ENOMEM;
		(*nodes)[(*n)++] = node;
		if (*n > furthest + FAR) {
			furthest = *n;
			back = 1;
		}
	}
	return -EAGAIN;
}

bool asyncio_read(struct asyncio *s, const struct asyncio_thread *thread, uint64_t interpreter,
		  void (*take)(void *ctx, const struct pystack_task *task), void *ctx)
{
	const uint64_t head = thread ? thread->state + s->at.thread.tasks : interpreter + s->at.interpreter.tasks;
	uint64_t *nodes = NULL;
	size_t n = 0;
	int rc = list_nodes(s, head, &nodes, &n);

	for (size_t i = 0; i < n && s->budget > 0; i++)
		take_task(s, thread, nodes[i] - s->at.task.node, take, ctx);
	free(nodes);
	return !rc && s->budget > 0;
}
