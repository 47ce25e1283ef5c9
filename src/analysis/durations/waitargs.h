/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread waits for, by all arguments of the call that it hangs in now: the path that it opens, the child that it waits for,
 * the descriptors that it polls, the thread that holds the lock. Texts and arrays are read from its memory, which a blocked thread
 * does not change.
 */
#ifndef ANALYSIS_DURATIONS_WAITARGS_H
#define ANALYSIS_DURATIONS_WAITARGS_H

#include "analysis/durations/waiton.h"

enum { WAITARGS = 6 };
struct waitargs {
	pid_t pid, tid;
	int64_t call;
	uint64_t args[WAITARGS];
};

enum waitargs_found { WAITARGS_NO_CALL, WAITARGS_A_CALL, WAITARGS_REFUSED };

/* The call in which the thread is now, and its arguments; for WAITARGS_REFUSED, errno. The kernel tells nothing of a thread that
 * runs. c->pid is 0 if the thread has ended meanwhile. */
enum waitargs_found waitargs_find(pid_t tid, struct waitargs *c);
/* Whether the thread has stayed in that call, while a text was made of it. */
bool waitargs_is_still(const struct waitargs *c);
/* "openat /run/fifo", "wait4 child 4711 (make)", "poll tcp 10.0.0.1:4711->10.0.0.2:5432, pipe:[123] and 2 more", "futex big
 * (/usr/bin/lock) held by reader (4712)", "join of thread reader (4712)" (pthread_join); of other calls, what waiton_text()
 * knows. `c` is from waitargs_find(). The text has any bytes. */
void waitargs_text(struct waiton *w, const struct waitargs *c, char *buf, size_t size);
/* The text for a thread that waits; that of waiton_text() if it is no longer in the call that it has entered, or if that is not known.
 * Returns buf. */
char *waitargs_now(struct waiton *w, pid_t tid, char *buf, size_t size);
#endif
