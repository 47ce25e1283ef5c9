/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All files that perf-prof writes are opened here. Under sudo, this is done with the rights of the user who ran sudo:
 * that user's symbolic links are followed, and a file that the user may not write stays as it is.
 *
 * Root itself follows no symbolic link, anywhere in the path, that belongs to another user, or that is in a sticky or
 * world-writable folder: whoever put it there would choose the file that root overwrites. In such folders, root does
 * not write to or replace a file of another user. There, and in other users' folders, it does not write to or replace
 * a file with several hard links.
 *
 * /dev/stdout, /dev/stderr, /dev/fd/N and "-" (stdout) are the descriptors themselves.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/fault.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* The descriptor for which the path is another name ("-": standard output), or -1. */
int outfile_descriptor(const char *path);
/* Opens a file for writing, close-on-exec. `flags` are those of open(2): O_CREAT, O_EXCL, O_TRUNC, O_APPEND. A new file
 * has `mode`, less the umask. A descriptor or -errno; -ELOOP: a link that root does not follow; -EEXIST: a
 * file that root does not write to. */
int outfile_open(const char *path, int flags, unsigned int mode);
/* Creates or empties a file, and opens it as a stream. NULL with errno. */
FILE *outfile_stream(const char *path);
/* Creates .NAME.XXXXXXXX in the folder of `path`. Its path is in *name, to be freed. A descriptor or -errno. */
int outfile_temporary(const char *path, char **name);
/* If the path is a symbolic link, the link itself is renamed or removed. 0 or -errno. */
int outfile_rename(const char *from, const char *to);
int outfile_unlink(const char *path);
/* Creates the folder, and those above it, where they do not exist. 0 or -errno. */
int outfile_folder(const char *path);
/* Creates a symbolic link at `path` to `to`. 0 or -errno; -EEXIST: something is there. */
int outfile_link(const char *path, const char *to);
/* The type of a file that is not replaced: S_IFIFO (also for a descriptor), S_IFCHR, S_IFDIR. 0: nothing is there, or
 * a regular file. */
mode_t outfile_kind(const char *path);

/* One call of the functions above, as data: a process can carry it out for another process. */
enum outfile_op { OUTFILE_OPEN, OUTFILE_RENAME, OUTFILE_UNLINK, OUTFILE_KIND, OUTFILE_FOLDER, OUTFILE_LINK, OUTFILE_OPS };
struct outfile_order {
	enum outfile_op op;
	const char *path, *to;         /* to: for OUTFILE_RENAME and OUTFILE_LINK */
	int flags;                     /* for OUTFILE_OPEN */
	unsigned int mode;             /* for OUTFILE_OPEN and OUTFILE_FOLDER */
};
/* Carries out the order in this process. A descriptor, a kind, 0, or -errno. */
int outfile_do(const struct outfile_order *order);
/* From now on `hand` carries out all orders, for a process that has given up its rights. NULL: this process does. */
typedef int outfile_hand(void *ctx, const struct outfile_order *order);
void outfile_through(outfile_hand *hand, void *ctx);

/* Sets f to "OPTION PATH: why, and what to do" for an -errno from these functions. Returns -1. */
int outfile_refused(const char *option, const char *path, int error, struct fault *f);
#endif
