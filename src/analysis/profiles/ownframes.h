/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose functions the frames of a call chain are: the program's own and its libraries', or those of the kernel, the C library and the
 * C++ library, which each program has. A difference in the latter is also one of the program's function that called them.
 */
#ifndef ANALYSIS_PROFILES_OWNFRAMES_H
#define ANALYSIS_PROFILES_OWNFRAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Of a function whose file is known. */
bool ownframes_in_file(const char *function, const char *dso);
/* Of folded stacks, which show no files: by names, and by which calls which. names: root first. Sets own[0] to own[n - 1]. */
void ownframes_in_stack(const char *const *names, size_t n, bool *own);
#endif
