/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to files that belong to other processes: the executables they map, and
 * their entries in /proc. Whoever needs one asks an opener, so that a process without
 * privilege can work with descriptors that another one hands to it.
 */
#ifndef BASE_OPENER_H
#define BASE_OPENER_H

#include <sys/types.h>

struct opener {
	/* A regular file for reading, by its absolute path as process `pid` sees it (0: as we
	 * do). Never blocks on what a path leads to, never leaves the process's root. */
	int (*file)(void *ctx, pid_t pid, const char *path);
	/* /proc/PID/NAME for reading; pid 0: /proc/NAME. */
	int (*proc)(void *ctx, pid_t pid, const char *name);
	void *ctx;
};

/* Opens by itself. */
extern const struct opener opener_direct;

/* Descriptors (O_CLOEXEC), or -errno; -ESRCH where the process is gone. */
int opener_file(const struct opener *o, pid_t pid, const char *path);
int opener_proc(const struct opener *o, pid_t pid, const char *name);
#endif
