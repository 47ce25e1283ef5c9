/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a thread that may run meanwhile.
 *
 *	T1  the pointer to the innermost frame, and the frames that the last stack had: one system call
 *	T2  frames that were not among them, each with what lies below it: there are mostly its callers
 *	T3  the pointer again
 *
 * A stack counts if the frame at T3 is in it, or was called from it: then the frames below did not change. What
 * returned meanwhile is still as it was, until another call takes its place. Otherwise all is read again, up to three
 * times; so is a stack that ends in a coroutine, which was suspended meanwhile and goes on in the same frame. Calls and
 * returns of a leaf do not spoil a stack; if they did, functions that call much would lack samples.
 */
#ifndef PYSTACK_FRAMES_H
#define PYSTACK_FRAMES_H

#include "pystack/offsets.h"

struct frame_at {
	uint64_t addr, code, place;
	bool script;             /* a Python function; false: the interpreter's own, at a call from C */
	bool generator;          /* it belongs to a generator or coroutine, and stays when that is suspended */
	bool entry;              /* C called the evaluation loop for this frame; from 3.12 on: for those inside of it */
};

enum { FRAMES_MOST = 4096, FRAMES_AHEAD = 64 };

/* What is expected of a thread's next stack; zero at first. */
struct frames_guess {
	uint64_t via;
	uint64_t addr[FRAMES_AHEAD];
	size_t n;
};

struct frames {
	struct frame_at v[FRAMES_MOST];   /* innermost first */
	size_t n;
	size_t most;             /* set by the caller, at most FRAMES_MOST: so many are read */
	bool cut;                /* there are more, or a loop */
};

/* Reads the stack of the thread state at that address. 0; -EAGAIN: it changed each time; or another -errno. */
int frames_read(struct frames *out, struct frames_guess *guess, const struct memory *m, const struct offsets *l,
		uint64_t thread);
#endif
