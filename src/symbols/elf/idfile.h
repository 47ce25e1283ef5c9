/* SPDX-License-Identifier: Apache-2.0 */
/* Files named by build id: FOLDER/.build-id/ab/cdef.... */
#ifndef SYMBOLS_ELF_IDFILE_H
#define SYMBOLS_ELF_IDFILE_H

#include "base/opener.h"

#include <stddef.h>
#include <stdint.h>

/* Truncated to n bytes. */
void idfile_path(char *path, size_t n, const char *folder, const uint8_t *id, size_t size, const char *suffix);
/* A file from perf's cache, perf-buildid-cache(1), to which perf-archive(1) adds files from other
 * machines: in ~/.debug of the user as whom this process runs, whatever the environment says, opened
 * with that user's rights. `what` is "elf", "debug" or "kallsyms". A descriptor of a regular file, or -errno. */
int idfile_cached(const uint8_t *id, size_t size, const char *what);
/* The same, or else from the opener. */
int idfile_find(const struct opener *o, const uint8_t *id, size_t size, const char *what);
#endif
