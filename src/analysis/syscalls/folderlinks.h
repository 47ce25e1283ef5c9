/* SPDX-License-Identifier: Apache-2.0 */
/* Where folders and files are behind the symbolic links in their paths, which the kernel knows from processes that have just used
 * them. */
#ifndef ANALYSIS_SYSCALLS_FOLDERLINKS_H
#define ANALYSIS_SYSCALLS_FOLDERLINKS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initialized by zeros. */
struct folderlinks {
	struct folderlink *all;   /* by path */
};

/* Puts the path that a folder or file has behind all links, from the kernel, which has just looked it up for a process. False: it is not
 * known. */
bool folderlinks_look(const char *folder, char real[PATH_MAX]);
/* The same for the first `len` bytes of a path, looked up once a second: now is any clock in ns. NULL: it is not known, or the same
 * path. Valid until the next call. */
const char *folderlinks_find(struct folderlinks *l, const char *folder, size_t len, uint64_t now);
/* Whether what /proc says is an absolute path that is valid here. */
bool folderlinks_is_path(const char *text);
void folderlinks_free(struct folderlinks *l);
#endif
