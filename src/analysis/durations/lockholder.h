/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds the lock that a thread waits for. The kernel does not know it; the lock itself often does:
 *
 *	futex(FUTEX_LOCK_PI): the word is the holder's tid, and two flags
 *	pthread_mutex_t of glibc: the tid is 8 bytes after the word, { lock, count, owner, users, kind }
 *	pthread_rwlock_t of glibc: the writer's tid is in it, { readers, writers, futex of readers, of writers, 2 x 0, writer, shared };
 *	readers are not known
 *
 * The tid counts only if the memory around it looks like such a lock, and if the process has a thread with that tid. A thread that
 * has ended without unlocking a mutex holds it for ever.
 */
#ifndef ANALYSIS_DURATIONS_LOCKHOLDER_H
#define ANALYSIS_DURATIONS_LOCKHOLDER_H

#include "analysis/durations/waitargs.h"

/* The thread that holds the lock; 0: the call waits for no lock, or that is not known. */
pid_t lockholder_tid(const struct waitargs *c);
/* "reader (4712)" of a thread of the same process. The text has any bytes. */
void lockholder_name(const struct waitargs *c, pid_t tid, char *buf, size_t size);
/* The thread that has ended while it held the mutex; 0: there is none, or that is not known. */
pid_t lockholder_ended(const struct waitargs *c);
/* "held by reader (4712)", "held by itself", "held by thread 4712, which has ended".
 * False: the call is another one, or that is not known. The text has any bytes. */
bool lockholder_text(const struct waitargs *c, char *buf, size_t size);
/* "reader (4712)" of the thread for whose end the call of pthread_join() waits. False: the call is another one. */
bool lockholder_joined(const struct waitargs *c, char *buf, size_t size);
#endif
