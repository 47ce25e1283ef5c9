/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of a Python program, as its interpreter has them: CPython 3.9 to 3.14, started in any way. They are read
 * from its memory while it runs; nothing in the process is changed or stopped.
 *
 *	maps of the process -> image.h: exported symbols -> runtime.h: _PyRuntime, version -> offsets.h: where fields are
 *	each thread state -> frames.h: frames -> code.h: code objects (text.h): function, file, line
 *	                  -> asyncio.h: tasks and the frames of each
 *
 * All that is read may be hostile: lists and stacks have limits, also all together, texts are cut, a loop ends at a limit, and a
 * reading after a second.
 */
#ifndef PYSTACK_PYSTACK_H
#define PYSTACK_PYSTACK_H

#include "base/fault.h"
#include "pystack/code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pystack;

struct pystack_frame {
	const struct code *code;
	int line;                        /* 0: not known */
	unsigned int call;               /* of the evaluation loop, in which it runs; 0: the innermost one */
};

enum { PYSTACK_NAME = 64, PYSTACK_THREADS = 4096 };   /* PYSTACK_THREADS: the most that are read */

struct pystack_thread {
	pid_t tid;                       /* 0: not known */
	char name[PYSTACK_NAME];         /* of the task, as it is now; "": not known */
	bool runs;                       /* on a CPU, or ready to run; true if the tid is not known */
	bool has_gil;
	bool torn;                       /* its stack changed each time that it was read; frames are not known */
	bool cut;                        /* more frames than are shown: outer ones */
	bool timed;                      /* these two are known: */
	uint64_t cpu;                    /* ns on CPUs since it was last taken with some; of a new thread: since the last pystack_read() */
	uint64_t turns;                  /* how often it got a CPU */
	uint64_t elapsed;                /* ns since it was last taken untorn; of a new thread: since the last pystack_read(); 0: not known */
	const char *task;                /* the asyncio task that it runs: its name, or that of its function; NULL: none, or not known */
	unsigned int calls;              /* of the evaluation loop (_PyEval_EvalFrameDefault) */
	size_t n;
	const struct pystack_frame *frames;   /* innermost first */
};

enum pystack_task_state {
	PYSTACK_TASK_WAITS,              /* also: it waits for its turn */
	PYSTACK_TASK_RUNS,
	PYSTACK_TASK_NEW,                /* it has not begun */
};

/* An asyncio task. */
struct pystack_task {
	pid_t tid;                       /* of the thread that began it; 0: that is not known, or has ended */
	uint64_t id;                     /* of the object: what id() says */
	const char *name;                /* "": not known */
	enum pystack_task_state state;
	bool torn, cut;                  /* as in struct pystack_thread */
	size_t n;
	const struct pystack_frame *frames;   /* of its coroutines; of one that runs, also what these have called */
	size_t nawaiters;
	const uint64_t *awaiters;        /* ids of tasks that wait for it */
	bool awaiters_cut;               /* there are more */
};

struct pystack_opts {
	bool idle;                       /* also threads that do not run */
	bool only_gil;                   /* only threads that hold a GIL */
	bool cpu_time;                   /* sets `cpu` of threads that run */
	bool names_task;                 /* sets `task` of threads */
	/* Called, after the thread, for each of its tasks, and at the end for those whose thread has ended; the task is valid during the
	 * call, its code objects until the next pystack_read(). NULL: tasks are not read. */
	void (*take_task)(void *ctx, const struct pystack_task *task);
};

/* what: the command, for messages. NULL with f. */
struct pystack *pystack_open(pid_t pid, const char *what, struct fault *f);
/* Whether a process runs a Python that pystack_open() can read: 0; -ENOENT: no Python; -EMEDIUMTYPE: a 32-bit program; -ENOTSUP,
 * -EPROTO: a Python of another version; or another -errno. */
int pystack_look(pid_t pid);
void pystack_close(struct pystack *p);
/* "3.11.2"; of 3.9 and 3.10 without the last number. */
const char *pystack_version(const struct pystack *p);
/* Calls `take` for each thread of the interpreter, the newest first; the thread is valid during the call, its code objects until the
 * next pystack_read(). 0; -ESRCH: the process has ended; -EAGAIN: the list of threads changed while it was read;
 * -EOVERFLOW: it has more than PYSTACK_THREADS; -ETIME: it took more than a second; or another -errno. */
int pystack_read(struct pystack *p, const struct pystack_opts *o,
		 void (*take)(void *ctx, const struct pystack_thread *thread), void *ctx);
/* Whether this kernel says how long a thread was on CPUs. */
bool pystack_has_cpu_time(void);
/* Whether the interpreter says where tasks are: CPython 3.14. */
bool pystack_has_tasks(const struct pystack *p);
/* Whether pystack_read() left out tasks: their lists changed each time that they were read, or are too long. */
bool pystack_lacks_tasks(const struct pystack *p);
/* The message for -EOVERFLOW. Returns -1. */
int pystack_too_many(const char *what, pid_t pid, struct fault *f);
#endif
