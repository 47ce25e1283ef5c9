/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to files that belong to other processes: the executables they map, and
 * their entries in /proc. Whoever needs one asks an opener, so that a process without
 * privilege can work with descriptors that another one hands to it.
 */
#ifndef BASE_OPENER_H
#define BASE_OPENER_H

#include <stdint.h>
#include <sys/types.h>

struct opener {
	/* A regular file for reading, by its absolute path as process `pid` sees it (0: as we
	 * do). Never blocks on what a path leads to, never leaves the process's root. */
	int (*file)(void *ctx, pid_t pid, const char *path);
	/* /proc/PID/NAME for reading; pid 0: /proc/NAME. */
	int (*proc)(void *ctx, pid_t pid, const char *name);
	void *ctx;
	/* The names that a just-in-time compiler wrote for process `pid`: /tmp/perf-PID.map by
	 * its own root and its own number. No symbolic link, a regular file, and the process's
	 * user's own; or root's, if everybody may read it. NULL: there are none. */
	int (*perf_map)(void *ctx, pid_t pid);
	/* The file behind a mapping of executable memory, whatever has become of its path; start
	 * 0: the program that the process runs. A regular file. NULL: no way. */
	int (*mapped)(void *ctx, pid_t pid, uint64_t start, uint64_t end);
};

/* Opens by itself. */
extern const struct opener opener_direct;

/* Descriptors (O_CLOEXEC), or -errno; -ESRCH where the process is gone. */
int opener_file(const struct opener *o, pid_t pid, const char *path);
int opener_proc(const struct opener *o, pid_t pid, const char *name);
int opener_perf_map(const struct opener *o, pid_t pid);
int opener_mapped(const struct opener *o, pid_t pid, uint64_t start, uint64_t end);
/* Takes over a descriptor of O_PATH; gives one for reading, or -EINVAL for what is no
 * regular file: a device, say, isn't opened at all. */
int opener_read_regular(int path);
/* perfmapfile.c: what opener_direct does for the first of these. */
int opener_direct_perf_map(void *ctx, pid_t pid);
#endif
