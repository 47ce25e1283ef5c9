/* SPDX-License-Identifier: Apache-2.0 */
/* Files named by build id: FOLDER/.build-id/ab/cdef.... */
#ifndef SYMBOLS_ELF_IDFILE_H
#define SYMBOLS_ELF_IDFILE_H

#include "base/opener.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Truncated to n bytes. */
void idfile_path(char *path, size_t n, const char *folder, const uint8_t *id, size_t size, const char *suffix);
/* perf's cache of that user, perf-buildid-cache(1): ~/.debug, where ~ is HOME if only this user can write there, else the
 * home folder in passwd(5). "": there is none. */
const char *idfile_cache(uid_t uid);
/* A file from this cache, to which perf-archive(1) adds files from other machines: that of the user as whom this process
 * runs, opened with that user's rights. `what` is "elf", "debug" or "kallsyms". A descriptor of a regular file, or -errno. */
int idfile_cached(const uint8_t *id, size_t size, const char *what);
/* idfile_cached(), or else what the opener finds. */
int idfile_find(const struct opener *o, const uint8_t *id, size_t size, const char *what);
#endif
