/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names in a jitdump file (jit-PID.dump), which just-in-time compilers write beside or in place of
 * a perf map: see tools/perf/Documentation/jitdump-specification.txt of Linux. The code itself is passed
 * over.
 */
#ifndef SYMBOLS_JIT_JITDUMP_H
#define SYMBOLS_JIT_JITDUMP_H

#include "symbols/jit/perfmap.h"

/* How far a file was read; zeros at first. */
struct jitdump_place {
	uint64_t at;
	bool cut;                /* a bound left functions out */
};

/* What it names behind that place is added to m, to be followed by perfmap_sort(); at most *budget bytes, which
 * become fewer. How many functions that were, or -errno: -ENOEXEC if it is no such file. Damage ends the reading. */
int64_t jitdump_read(struct perfmap *m, int fd, struct jitdump_place *place, uint64_t *budget);
#endif
