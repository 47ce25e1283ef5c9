/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process, as the kernel has them: which one is a thread of the interpreter, does it run? */
#ifndef PYSTACK_TIDS_H
#define PYSTACK_TIDS_H

#include "pystack/memory.h"

struct tids;

struct tids *tids_new(const struct memory *m);   /* NULL: out of memory */
void tids_free(struct tids *t);
/* From now on threads are looked up again, if they are not known. */
void tids_round(struct tids *t);
/* The thread that has that id in its own PID namespace. 0: there is none. */
pid_t tids_native(struct tids *t, uint64_t id);
/* The thread with that pthread_t, in whose memory the C library keeps its id. all: those of all threads of the
 * interpreter, by which the place is found. 0: not known. */
pid_t tids_pthread(struct tids *t, uint64_t pthread, const uint64_t *all, size_t n);
enum { TIDS_NAME = 64 };
/* Whether it runs, or is ready to run. name: the task's present one; "" if it has ended. */
bool tids_runs(const struct tids *t, pid_t tid, char name[TIDS_NAME]);
/* Its time on CPUs in ns, as of the last timer tick or switch, and how often it got a CPU. False: it has ended, or the kernel does not
 * say (CONFIG_SCHED_INFO). */
bool tids_cpu_time(const struct tids *t, pid_t tid, uint64_t *ns, uint64_t *turns);
/* Whether it has been on a CPU ever since tids_cpu_time() returned `turns`, the number of times that it got one: its context switches,
 * at each of which it lost one, are then fewer. True if they are not known. */
bool tids_is_on_cpu(const struct tids *t, pid_t tid, uint64_t turns);
/* The CPU that it is on, or was on last; -1: not known. */
int tids_cpu(const struct tids *t, pid_t tid);
#endif
