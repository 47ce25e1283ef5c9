/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dump_merge.h"

#include "base/room.h"
#include "engine/pyframes.h"

#define LOOP "_PyEval_EvalFrameDefault"

/* A part of the function that the compiler has moved is "LOOP.cold". */
static bool is_loop(const struct frame *frame)
{
	const size_t len = strlen(LOOP);

	return frame->symbol && !frame->inlined && !strncmp(frame->symbol, LOOP, len) &&
	       (!frame->symbol[len] || frame->symbol[len] == '.');
}

unsigned int dump_loops(const struct dump_frames *native)
{
	unsigned int n = 0;

	for (size_t i = 0; i < native->n; i++)
		n += is_loop(native->v[i]);
	return n;
}

/* Whether that function is the loop, or was inlined into it there. */
static bool is_in_loop(const struct dump_frames *native, size_t i)
{
	while (native->v[i]->inlined && i + 1 < native->n)
		i++;
	return is_loop(native->v[i]);
}

/* With -X perf, CPython calls each Python function through code of that function's name. */
static bool is_trampoline(const struct frame *frame)
{
	char name[PYFRAMES_NAME];
	const char *file;

	return frame->symbol && pyframes_parse(frame->symbol, name, &file);
}

/* Appends the functions that a call of the loop runs; returns the next one. */
static size_t append_call(struct dump_frames *out, const struct dump_script *scripts, size_t next, size_t n, unsigned int call)
{
	for (; next < n && scripts[next].call == call; next++)
		out->v[out->n++] = &scripts[next].frame;
	return next;
}

bool dump_merge(struct dump_frames *out, const struct dump_frames *native, const struct dump_script *scripts, size_t n,
		unsigned int calls)
{
	unsigned int call = 0;
	size_t next = 0;

	if (dump_loops(native) != calls)
		return false;
	out->lost |= !ROOM_FOR(out->v, out->room, out->n, native->n + n);
	for (size_t i = 0; i < native->n && !out->lost; i++)
		if (is_loop(native->v[i]))
			next = append_call(out, scripts, next, n, call++);
		else if (!is_in_loop(native, i) && !is_trampoline(native->v[i]))
			out->v[out->n++] = native->v[i];
	return true;
}
