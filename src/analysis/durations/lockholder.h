/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds the lock that a thread waits for. The kernel does not know it; the lock itself often does:
 *
 *	futex(FUTEX_LOCK_PI): the word is the holder's tid, and two flags
 *	pthread_mutex_t of glibc: the tid is 8 bytes after the word, { lock, count, owner, users, kind }
 *
 * What is read there is believed only if it fits such a lock and is a thread of the same process.
 */
#ifndef ANALYSIS_DURATIONS_LOCKHOLDER_H
#define ANALYSIS_DURATIONS_LOCKHOLDER_H

#include "analysis/durations/waitargs.h"

/* "reader (4712)", "itself". False: the call waits for no lock, or its holder is not known. The text has any bytes. */
bool lockholder_text(const struct waitargs *c, char *buf, size_t size);
#endif
