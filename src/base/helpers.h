/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that this process starts for itself. */
#ifndef BASE_HELPERS_H
#define BASE_HELPERS_H

#include <sys/types.h>

/* Called for each helper, so that its activity is counted as our own. */
struct helpers {
	void (*started)(void *ctx, pid_t pid);   /* may be NULL */
	void *ctx;
};

static inline void helpers_started(const struct helpers *h, pid_t pid)
{
	if (h->started && pid > 0)
		h->started(h->ctx, pid);
}

/* As fork(), for a child that no wait(2) of a script finds, but helpers_wait(). While there is one thread, it is a child that sends no
 * signal when it ends, so that its CPU time counts as ours. Locks of other threads need fork(): then it is a child of init. */
pid_t helpers_fork(void);
/* Waits for the end of a helper, if that is possible. */
void helpers_wait(pid_t pid);
#endif
