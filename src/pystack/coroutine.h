/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a coroutine waits in: its own frame, that of the coroutine or generator that it awaits, and so on, while the program runs.
 *
 *	T1  each frame in turn, and what the last value on its stack is: the object that it awaits
 *	T2  the first frame and the last one again
 *
 * They count if both are as before: a coroutine that has gone on stands elsewhere. Otherwise all is read again, up to three times.
 */
#ifndef PYSTACK_COROUTINE_H
#define PYSTACK_COROUTINE_H

#include "pystack/asyncio_offsets.h"

enum { COROUTINE_MOST = 1024 };

enum coroutine_state {
	COROUTINE_NEW,           /* it has not begun */
	COROUTINE_WAITS,         /* or waits for its turn */
	COROUTINE_RUNS,          /* its frames are those of a thread */
	COROUTINE_ENDED,
};

struct coroutine_frame {
	uint64_t code, place;    /* as in struct frame_at */
};

struct coroutine {
	enum coroutine_state state;
	struct coroutine_frame v[COROUTINE_MOST];   /* outermost first; of one that runs: none */
	size_t n;
	bool cut;                /* there are more, or a loop */
};

/* Reads the object at that address. 0; -ENOENT: it is no coroutine; -EAGAIN: it changed each time; or another -errno. */
int coroutine_read(struct coroutine *out, const struct memory *m, const struct offsets *l, const struct asyncio_offsets *a,
		   uint64_t object);
#endif
