/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to files that belong to other processes: the executables they map, and
 * their entries in /proc. Whoever needs one asks an opener, so that a process without
 * privilege can work with descriptors that another one hands to it.
 */
#ifndef BASE_OPENER_H
#define BASE_OPENER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct opener_question;

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
	/* Of a process that is gone: the i-th piece of the perf map that was kept of it, whole lines, which stay
	 * as they are; NULL: there are no more. NULL: none are kept. */
	const char *(*kept_map)(void *ctx, pid_t pid, size_t i, size_t *size);
	/* Of files of which this process has tickets (ticket.h): 0 with the answer to a question about them, which
	 * is the caller's to free(), and the process that found it; -errno. NULL: there are no tickets. */
	int (*parse)(void *ctx, struct opener_question *q);
	/* Of perf's cache, as idfile_cached() (symbols/elf/idfile.h), of the user who started the run. NULL: there is
	 * no other than this process's. */
	int (*cached)(void *ctx, const uint8_t *id, size_t size, const char *what);
};

struct opener_question {
	int kind;                /* symbols/jail/parser.h */
	const int *fds;
	unsigned int nfds;
	const void *bytes;
	size_t size;
	void *answer;
	size_t answer_size;
	pid_t worker;
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
const char *opener_kept_map(const struct opener *o, pid_t pid, size_t i, size_t *size);

/* perfmapfile.c: what opener_direct does for the first of these, in two steps: the second one can be taken
 * when the process is gone. */
int opener_direct_perf_map(void *ctx, pid_t pid);
struct perf_map_home {
	int root;                /* descriptor of the process's root; -1: none */
	uid_t uid;               /* effective, of the process */
	pid_t pid;               /* in its own namespace */
};
/* 0 or -errno; to be closed by perf_map_leave(), which may be called twice. */
int perf_map_home(struct perf_map_home *h, pid_t pid);
int perf_map_open(const struct perf_map_home *h);
void perf_map_leave(struct perf_map_home *h);
#endif
