/* SPDX-License-Identifier: Apache-2.0 */
/* A tracepoint that a source names in an option: latency/--start sched:sched_wakeup .../. */
#ifndef ENGINE_TAPPED_H
#define ENGINE_TAPPED_H

#include "base/fault.h"

struct tapped {
	char *sys;                  /* owns both */
	const char *name;
};

/* From "sys:name"; what is wrong with `text` is told as of that option of that source, an option that was not given
 * (NULL) with the example. 0, or -1 with f. */
int tapped_set(struct tapped *t, const char *source, const char *option, const char *text, const char *example,
	       struct fault *f);
void tapped_free(struct tapped *t);
#endif
