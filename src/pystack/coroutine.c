/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/coroutine.h"

#include <errno.h>
#include <string.h>

enum { TRIES = 3, TAG_BITS = 7, WORD = 8, HEAD = 128 };

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
		.frame = { memory_field(frame, l->frame.code, WORD) & ~(uint64_t)TAG_BITS, memory_field(frame, l->frame.place, WORD) },
		.stack = memory_field(frame, a->stack, WORD) & ~(uint64_t)TAG_BITS,
	};
	return is_generator(a, memory_field(bytes, a->type, WORD)) ? 0 : -ENOENT;
}

/* What an object is, and its first field: of what asend(), anext() and __await__() return, it is what they were called for. */
static int read_object(const struct memory *m, const struct asyncio_offsets *a, uint64_t object, uint64_t *type, uint64_t *first)
{
	char bytes[HEAD];
	int rc = memory_get(m, object, bytes, a->type + 2 * WORD);

	if (rc)
		return rc;
	*type = memory_field(bytes, a->type, WORD);
	*first = memory_field(bytes, a->type + WORD, WORD);
	return 0;
}

/* The generator that it awaits. 0: none, but something else. */
static int awaited(const struct memory *m, const struct asyncio_offsets *a, const struct generator *g, uint64_t *object)
{
	uint64_t at = 0, type = 0, first = 0;
	int rc = memory_word(m, g->stack - WORD, &at);

	*object = 0;
	at &= ~(uint64_t)TAG_BITS;
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

	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
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

int coroutine_code(const struct memory *m, const struct offsets *l, const struct asyncio_offsets *a, uint64_t object, uint64_t *code)
{
	struct generator g;
	int rc = read_generator(&g, m, l, a, object);

	*code = rc ? 0 : g.frame.code;
	return rc;
}
