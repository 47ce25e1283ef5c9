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
