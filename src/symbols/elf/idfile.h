/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are kept by build id: FOLDER/.build-id/ab/cdef.... */
#ifndef SYMBOLS_ELF_IDFILE_H
#define SYMBOLS_ELF_IDFILE_H

#include "base/opener.h"

#include <stddef.h>
#include <stdint.h>

/* What doesn't fit into n bytes is cut. */
void idfile_path(char *path, size_t n, const char *folder, const uint8_t *id, size_t size, const char *suffix);
/* Of perf's cache, perf-buildid-cache(1), which perf-archive(1) brings from other machines: ~/.debug of
 * the user as whom this process runs, whatever the environment says, and by that user's rights. `what` is
 * "elf" or "kallsyms". A descriptor of a regular file, or -errno. */
int idfile_cached(const uint8_t *id, size_t size, const char *what);
/* The same, or else what the opener has. */
int idfile_find(const struct opener *o, const uint8_t *id, size_t size, const char *what);
#endif
