/* SPDX-License-Identifier: Apache-2.0 */
/* Callback for each helper process that this process starts, so that its activity is counted as our own. */
#ifndef BASE_HELPERS_H
#define BASE_HELPERS_H

#include <sys/types.h>

struct helpers {
	void (*started)(void *ctx, pid_t pid);   /* may be NULL */
	void *ctx;
};

static inline void helpers_started(const struct helpers *h, pid_t pid)
{
	if (h->started && pid > 0)
		h->started(h->ctx, pid);
}
#endif
