/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asyncio tasks of a Python program, while it runs. Each thread has a list of the tasks that it has begun; those of threads that
 * have ended are in a list of the interpreter. A task or a future knows which others wait for it.
 *
 * A list counts as far as its links lead back; a task that ends meanwhile leaves it, and is not taken. What is read of a process is
 * limited, whatever its lists say.
 */
#ifndef PYSTACK_ASYNCIO_H
#define PYSTACK_ASYNCIO_H

#include "pystack/asyncio_offsets.h"
#include "pystack/code.h"
#include "pystack/pystack.h"

/*
 * What a coroutine waits in: its own frame, that of the coroutine or generator that it awaits, and so on, while the program runs.
 *
 *	T1  each frame in turn, and what the last value on its stack is: the object that it awaits
 *	T2  the first frame and the last one again
 *
 * They count if both are as before: a coroutine that has gone on stands elsewhere. Otherwise all is read again, up to three times.
 */

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

struct asyncio;

/* All are used until asyncio_free(). NULL: out of memory. */
struct asyncio *asyncio_new(const struct memory *m, const struct asyncio_offsets *a, const struct offsets *l, struct codes *codes);
void asyncio_free(struct asyncio *s);

/* The stack of the thread whose tasks are read: in it are the frames of the task that runs. */
struct asyncio_thread {
	pid_t tid;
	uint64_t state;                  /* its address */
	const struct pystack_frame *frames;
	const uint64_t *addrs;           /* of the frames */
	size_t n;
};

/* Calls `take` for each task that has not ended: of a thread, or (thread NULL) of the threads of this interpreter that have ended.
 * False: tasks are missing. */
bool asyncio_read(struct asyncio *s, const struct asyncio_thread *thread, uint64_t interpreter,
		  void (*take)(void *ctx, const struct pystack_task *task), void *ctx);
/* The task that runs in this stack of the thread: its name, or, if it has none but a number, the name of its function. malloc'ed; NULL:
 * none runs, or it is not readable. */
char *asyncio_running(struct asyncio *s, const struct asyncio_thread *thread);
#endif
