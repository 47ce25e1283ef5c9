/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever is told of processes that this one starts for itself: what they do is its own doing. */
#ifndef BASE_HELPERS_H
#define BASE_HELPERS_H

#include <sys/types.h>

struct helpers {
	void (*started)(void *ctx, pid_t pid);   /* NULL: nobody is told */
	void *ctx;
};

static inline void helpers_started(const struct helpers *h, pid_t pid)
{
	if (h->started && pid > 0)
		h->started(h->ctx, pid);
}
#endif
