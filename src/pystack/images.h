/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a process has mapped, each where its first byte is. */
#ifndef PYSTACK_IMAGES_H
#define PYSTACK_IMAGES_H

#include "pystack/memory.h"
#include "tasks/procmaps.h"

/* A process may have mapped what takes hours to search. */
enum { IMAGES_SECONDS = 2 };

/* Calls `look` for each mapping of the beginning of a file until it returns true. 0; -ETIME: it took too long; or -errno: the
 * list of mappings cannot be read. */
int images_each(const struct memory *m, bool (*look)(void *ctx, const struct procmaps_line *map), void *ctx);
#endif
