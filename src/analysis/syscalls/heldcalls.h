/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that have returned, but whose path is not known yet: a probe behind the system call in the C library (probeplaces.h) sees it
 * next. A thread has one at most; its next call ends the wait.
 */
#ifndef ANALYSIS_SYSCALLS_HELDCALLS_H
#define ANALYSIS_SYSCALLS_HELDCALLS_H

#include "rows/question.h"

/* Initialized by zeros. */
struct heldcalls {
	struct heldcall *all;        /* by thread */
};

/* Keeps a copy of the call, and of its sample. False: it is not kept. */
bool heldcalls_keep(struct heldcalls *c, const struct happening *h);
/* The thread's call, whose comm is NULL; NULL: it has none. */
struct happening *heldcalls_find(const struct heldcalls *c, pid_t tid);
/* Any call; NULL: there is none. */
struct happening *heldcalls_any(const struct heldcalls *c);
void heldcalls_remove(struct heldcalls *c, struct happening *h);
void heldcalls_free(struct heldcalls *c);
#endif
