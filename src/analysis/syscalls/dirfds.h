/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which path the descriptors of each process have, for calls such as openat(2) with a path relative to one. They are known from
 * calls that succeed: open(2), dup(2), close(2), and from forks. Those of before the run are read from /proc when they are used.
 * Which descriptors exec closes is not known: such a one stays until its number is used again.
 */
#ifndef ANALYSIS_SYSCALLS_DIRFDS_H
#define ANALYSIS_SYSCALLS_DIRFDS_H

#include "analysis/syscalls/folders.h"

/* Initialized by zeros. */
struct dirfds {
	struct groups all;       /* of struct dirfds_process, by process */
	size_t n;                     /* descriptors of all of them */
};

/* The process has opened `path`; NULL: what it has opened is no folder, or not known. time: perf clock, as below. */
void dirfds_open(struct dirfds *d, pid_t pid, int fd, const char *path, uint64_t time);
void dirfds_copy(struct dirfds *d, pid_t pid, int from, int to, uint64_t time);
/* The process closes first to last. */
void dirfds_close(struct dirfds *d, pid_t pid, unsigned int first, unsigned int last, uint64_t time);
/* The absolute path of the descriptor at the call that is handled; NULL: not known. Valid until the next call of a function. */
const char *dirfds_path(struct dirfds *d, struct folders *f, pid_t pid, int fd);
/* Takes FORK and EXIT records; ignores others. */
void dirfds_take(struct dirfds *d, const struct pev_record *rec);
/* Records were lost, or it is the end. */
void dirfds_forget(struct dirfds *d);
#endif
