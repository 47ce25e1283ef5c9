/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names in a jitdump file (jit-PID.dump), which just-in-time compilers write beside or in place of
 * a perf map: see tools/perf/Documentation/jitdump-specification.txt of Linux. The code itself is passed
 * over.
 */
#ifndef SYMBOLS_JITDUMP_H
#define SYMBOLS_JITDUMP_H

#include "symbols/perfmap.h"

/* What it names is added to m, to be followed by perfmap_sort(). How many functions that were, or -errno:
 * -ENOEXEC if it is no such file. Damage ends the reading. */
int64_t jitdump_read(struct perfmap *m, int fd);
#endif
