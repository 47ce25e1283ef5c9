/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where asyncio's tasks are, as CPython 3.14 says itself: the fields of a task in the section .AsyncioDebug of the module _asyncio,
 * those of coroutines, sets and lists in _Py_DebugOffsets. No symbol leads to the section, and names of sections are not mapped, so it is
 * found among the variables of the module: its structure repeats the sizes of the interpreter and of a thread state.
 */
#ifndef PYSTACK_ASYNCIO_OFFSETS_H
#define PYSTACK_ASYNCIO_OFFSETS_H

#include "pystack/runtime.h"

/* The most bytes of a structure that are read at once. */
enum { ASYNCIO_TASK = 512, ASYNCIO_GENERATOR = 512, ASYNCIO_TYPES = 3 };

struct asyncio_offsets {
	struct {
		uint64_t size, name, awaiters, is_task, has_set, coroutine, node;   /* has_set: awaiters is a set */
	} task;                          /* futures have these fields up to has_set, too */
	struct {
		uint64_t size, tasks;
	} interpreter;
	struct {
		uint64_t size, loop, task, tasks;   /* task: the one that runs */
	} thread;
	struct {
		uint64_t size, frame, state;    /* size: bytes that cover the frame */
	} generator;                     /* and coroutines */
	uint64_t stack;                  /* in a frame: the end of its stack of values */
	uint64_t type;                   /* of each object */
	struct {
		uint64_t used, table, mask;
	} set;
	struct {
		uint64_t next, previous;
	} list;
	struct {
		uint64_t tag, digits;
	} number;
	uint64_t generators[ASYNCIO_TYPES];   /* addresses of the types that have frames of their own */
	uint64_t number_type, text_type;
};

/* What _Py_DebugOffsets says. 0; -EPROTO: it makes no sense; or another -errno. */
int asyncio_offsets_stated(struct asyncio_offsets *out, const struct memory *m, const struct offsets *l, uint64_t runtime);
/* What the module says, somewhere in these bytes; `out` has what the interpreter says. False: it is not there. */
bool asyncio_offsets_scan(struct asyncio_offsets *out, const void *bytes, size_t size);
/* Both. 0; -ENOTSUP: this version says nothing; -ENOENT: the program has not imported asyncio; or another -errno. */
int asyncio_offsets_find(struct asyncio_offsets *out, const struct memory *m, const struct runtime *r);
#endif
