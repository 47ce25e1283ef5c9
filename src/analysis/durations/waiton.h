/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads wait on, by the system call that they sleep in and its first arguments: the variable at the address of a futex,
 * the file or socket of a descriptor.
 */
#ifndef ANALYSIS_DURATIONS_WAITON_H
#define ANALYSIS_DURATIONS_WAITON_H

#include "analysis/durations/waitkind.h"
#include "table/words.h"
#include "tasks/sockets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Initialized by zeros. */
struct names;
struct waiton {
	struct groups all;           /* of struct waiton_call */
	struct groups processes;     /* of struct waiton_process: names of their descriptors */
	struct variables *variables; /* NULL: not needed yet, or not available */
	struct sockets sockets;
	bool recorded;               /* descriptors are those of a recording, and have no names now */
	struct names *names;         /* of tasks and, if recorded, the mappings of processes; NULL: none */
};

/* The thread enters or leaves a system call. */
enum { WAITON_ARGS = 4 };
void waiton_enter(struct waiton *w, pid_t pid, pid_t tid, int64_t call, const uint64_t args[WAITON_ARGS]);
void waiton_leave(struct waiton *w, pid_t tid);
/* The thread begins to wait: looks up the name of its descriptor or address. time: of a recorded wait. */
void waiton_wait(struct waiton *w, pid_t tid, uint64_t time);
/* The wait has ended by that task (0: by none): if the thread waited for a thread's end, the name is the one that it has now. */
void waiton_woken(struct waiton *w, pid_t tid, pid_t waker);
/* The thread has ended and, if it is the first one of its process, that process. */
void waiton_forget(struct waiton *w, pid_t tid);
/* "futex big (/usr/bin/lock)", "futex 0x7f0c", "join of thread reader" (with w->names), "read pipe:[123]",
 * "recvfrom tcp 10.0.0.1:4711->10.0.0.2:5432", "recvfrom fd 5" (a recording, or the descriptor is closed), "wait4"; "no system call"
 * for page faults and threads of the kernel; "unknown" if it has not entered a call since the run began. Returns buf. */
char *waiton_text(const struct waiton *w, pid_t tid, char *buf, size_t size);
/* Whether its call has a timeout, of which its result tells; and whether that result does. */
bool waiton_may_time_out(const struct waiton *w, pid_t tid);
bool waiton_timed_out(const struct waiton *w, pid_t tid, int64_t result);
/* Whether it waits for a lock with a timeout, as pthread_mutex_timedlock() of the C library of GNU does. */
bool waiton_locks_for_a_time(const struct waiton *w, pid_t tid);
/* Who held that lock during this wait; 0: not known. */
void waiton_set_holder(struct waiton *w, pid_t tid, pid_t holder);
pid_t waiton_holder(const struct waiton *w, pid_t tid);
/* What kind of thing that is; 0: not known. */
waitkinds_set waiton_kinds(const struct waiton *w, pid_t tid);
/* The thread for whose end it waits by pthread_join(), if w->names; 0: none, or not known. */
pid_t waiton_joined(const struct waiton *w, pid_t tid);
/* The process of the thread, and the name of the call that it is in; 0, NULL: not known, or in none. */
pid_t waiton_pid(const struct waiton *w, pid_t tid);
const char *waiton_call_name(const struct waiton *w, pid_t tid);
/* Which object that is, without its call. */
struct waiton_object {
	struct waiton_key {
		pid_t pid;                   /* where its name or address is good; 0: everywhere */
		uint64_t address;            /* of a lock that is in no variable; else 0 */
		char name[WORD_SIZE + 32];   /* empty if it is an address */
	} key;                               /* without padding that is not zero */
	uint64_t address;                    /* of any lock but a thread's end; else 0 */
	char text[WORD_SIZE + 32];           /* "futex big (/usr/bin/lock)", "pipe:[123]", "fd 5", "anon_inode:[eventpoll] fd 4" */
};
/* False: the call has none, or it is not known. */
bool waiton_object(const struct waiton *w, pid_t tid, struct waiton_object *object);
/* Whether that may be the call which the thread has entered: it is, or none is known. */
bool waiton_may_be_in(const struct waiton *w, pid_t tid, int64_t call, uint64_t arg);
/* The name of a descriptor of the process now: of a socket, its address. "": it has none. */
void waiton_descriptor(struct waiton *w, pid_t pid, pid_t tid, int fd, char *buf, size_t size);
/* Writes a thread that has ended: "reader (4712), which has ended", or "thread 4712, which has ended". */
void waiton_ended_name(const struct waiton *w, pid_t tid, char *buf, size_t size);
/* A line says of which program the locks have no names, if there is one. */
void waiton_print_nameless(const struct waiton *w);
void waiton_free(struct waiton *w);
#endif
