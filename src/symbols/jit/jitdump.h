/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names from a jitdump file (jit-PID.dump), which JIT compilers write in addition to a perf map or in place of it:
 * see tools/perf/Documentation/jitdump-specification.txt in Linux. The code in it is skipped.
 */
#ifndef SYMBOLS_JIT_JITDUMP_H
#define SYMBOLS_JIT_JITDUMP_H

#include "symbols/jit/perfmap.h"

/* Position up to which a file was read; zeros at first. */
struct jitdump_place {
	uint64_t at;
	bool cut;                /* functions were left out because of a limit */
};

/* Adds the functions after that place to m; call perfmap_sort() afterwards. Reads at most *budget bytes and subtracts
 * them. Returns the number of functions, or -errno: -ENOEXEC: not a jitdump file. Stops at damaged data. */
int64_t jitdump_read(struct perfmap *m, int fd, struct jitdump_place *place, uint64_t *budget);
#endif
