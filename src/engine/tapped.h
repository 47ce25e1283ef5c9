/* SPDX-License-Identifier: Apache-2.0 */
/* A tracepoint in an option of a source: latency/--start sched:sched_wakeup .../. */
#ifndef ENGINE_TAPPED_H
#define ENGINE_TAPPED_H

#include "base/fault.h"

struct tapped {
	char *sys;                  /* allocated; `name` is in the same memory */
	const char *name;
};

/* Parses "sys:name". An error message names source and option, and for a missing option (text is NULL) has the
 * example. 0, or -1 with f. */
int tapped_set(struct tapped *t, const char *source, const char *option, const char *text, const char *example,
	       struct fault *f);
void tapped_free(struct tapped *t);
#endif
