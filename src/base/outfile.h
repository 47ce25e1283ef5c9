/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door to files that are written. Under sudo it is passed with the rights of the
 * caller: the caller's links are followed, and what the caller may not write stays as it is.
 * As root itself no symbolic link is followed, wherever in the path, that belongs to somebody
 * else, or is in a folder that is sticky or that everybody may write to: who laid it there
 * would choose what root overwrites. Nor does root write to, or replace, a file of another user in
 * such a folder, or one with several names there or in another user's folder.
 *
 * /dev/stdout, /dev/stderr, /dev/fd/N and "-" (stdout) are the descriptors themselves.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/fault.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Whether the path is another name of a descriptor. */
bool outfile_is_descriptor(const char *path);
/* To write to, close-on-exec; `flags` as open(2) has them: O_CREAT, O_EXCL, O_TRUNC, O_APPEND. A new file
 * has `mode`, less the umask. A descriptor or -errno; -ELOOP: a link that root doesn't follow; -EEXIST: a
 * file that root doesn't write to. */
int outfile_open(const char *path, int flags, unsigned int mode);
/* The same as a stream of an emptied file; NULL with errno. */
FILE *outfile_stream(const char *path);
/* A new file .NAME.XXXXXXXX beside it, whose name is in *name. A descriptor or -errno. */
int outfile_temporary(const char *path, char **name);
/* What is a link itself is renamed or removed. 0 or -errno. */
int outfile_rename(const char *from, const char *to);
int outfile_unlink(const char *path);
/* What is there and isn't replaced: S_IFIFO for a pipe or a descriptor, S_IFCHR, S_IFDIR. 0: nothing, or a file. */
mode_t outfile_kind(const char *path);

/* What these do, one by one, in this process: for one that does it for another. */
enum outfile_op { OUTFILE_OPEN, OUTFILE_RENAME, OUTFILE_UNLINK, OUTFILE_KIND, OUTFILE_OPS };
struct outfile_order {
	enum outfile_op op;
	const char *path, *to;         /* to: of a renaming */
	int flags;                     /* of opening */
	unsigned int mode;
};
/* A descriptor, a kind, 0, or -errno. */
int outfile_do(const struct outfile_order *order);
/* From here on all of them are done by that one, for a process that has given up its rights. NULL: by itself. */
typedef int outfile_hand(void *ctx, const struct outfile_order *order);
void outfile_through(outfile_hand *hand, void *ctx);

/* "OPTION PATH: why, and what to do", for an -errno of these. -1. */
int outfile_refused(const char *option, const char *path, int error, struct fault *f);
#endif
