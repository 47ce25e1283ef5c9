/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process with their stacks, read at one time. */
#ifndef ANALYSIS_DUMP_THREADS_H
#define ANALYSIS_DUMP_THREADS_H

#include "analysis/dump_tasks.h"
#include "base/fault.h"
#include "pystack/pystack.h"

enum { DUMP_COMMAND = 4096, DUMP_VERSION = 16 };

struct dump_thread {
	pid_t tid;               /* 0: not known */
	char name[PYSTACK_NAME];
	bool runs, has_gil;
	bool torn;               /* its Python functions are not known: they changed each time that they were read */
	bool stuck;              /* its native functions are not known: it did not stop */
	bool foreign;            /* likewise: 32-bit code */
	bool apart;              /* frames are native functions, then, from `native` on, Python functions */
	size_t native;
	struct dump_frames frames;
	struct dump_script *scripts;
	size_t nscripts;
	char *waits;             /* its lock, "futex big (/usr/bin/lock) held by reader (4712)"; NULL: none, or not known */
	unsigned int calls, loops;   /* of the evaluation loop, as Python has them; as native functions are, if apart */
	bool scripts_cut;
};

struct dump {
	pid_t pid;
	char command[DUMP_COMMAND], version[DUMP_VERSION];   /* version of Python; "": it is no Python program */
	bool native;             /* frames have native functions */
	struct dump_thread *v;   /* by tid */
	size_t n, room;
	struct dump_tasks tasks;
	bool lost;               /* out of memory */
	struct pystack *python;  /* what names in frames belong to */
	struct dump_native *natives;
};

struct dump_opts {
	bool only_gil;
	bool native;             /* native functions, too; a program that is no Python has no other ones */
};

/* 0, or -1 with f. dump_end() in any case. */
int dump_begin(struct dump *d, pid_t pid, const struct dump_opts *o, struct fault *f);
void dump_end(struct dump *d);
#endif
