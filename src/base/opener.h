/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to files of other processes: the executables that they map, and their entries in /proc. All such files are
 * opened by an opener, so that a process without privilege can work with descriptors from another one.
 */
#ifndef BASE_OPENER_H
#define BASE_OPENER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct opener_question;

struct opener {
	/* A regular file for reading, by its absolute path in the root of process `pid` (0: in our own). Never
	 * blocks, whatever file the path leads to, and never leaves the process's root. */
	int (*file)(void *ctx, pid_t pid, const char *path);
	/* /proc/PID/NAME for reading; pid 0: /proc/NAME. */
	int (*proc)(void *ctx, pid_t pid, const char *name);
	void *ctx;
	/* The perf map that a JIT compiler wrote for process `pid`: /tmp/perf-PID.map in the process's root, with its
	 * pid in its own namespace. A regular file, not a symbolic link, that belongs to the process's user; or to
	 * root, if everybody may read it. NULL: not supported. */
	int (*perf_map)(void *ctx, pid_t pid);
	/* The file of an executable mapping, even if its path has changed; start 0: the program that the process
	 * runs. A regular file. NULL: not supported. */
	int (*mapped)(void *ctx, pid_t pid, uint64_t start, uint64_t end);
	/* The i-th part of the perf map kept for a process that has ended: whole lines, which stay unchanged.
	 * Returns NULL after the last one. NULL: none are kept. */
	const char *(*kept_map)(void *ctx, pid_t pid, size_t i, size_t *size);
	/* Answers a question about files for which this process has tickets (ticket.h): 0 with the answer, which the
	 * caller frees with free(), and the process that found it; or -errno. NULL: there are no tickets. */
	int (*parse)(void *ctx, struct opener_question *q);
	/* A file in perf's cache of the user who started the run, as idfile_cached() (symbols/elf/idfile.h). NULL:
	 * the cache of this process's user is the only one. */
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

/* Opens files in this process. */
extern const struct opener opener_direct;

/* Each returns a descriptor (O_CLOEXEC), or -errno; -ESRCH: the process has ended. */
int opener_file(const struct opener *o, pid_t pid, const char *path);
int opener_proc(const struct opener *o, pid_t pid, const char *name);
int opener_perf_map(const struct opener *o, pid_t pid);
int opener_mapped(const struct opener *o, pid_t pid, uint64_t start, uint64_t end);
/* Reopens an O_PATH descriptor, which it takes over, for reading. -EINVAL: not a regular file; devices are never
 * opened. */
int opener_read_regular(int path);
const char *opener_kept_map(const struct opener *o, pid_t pid, size_t i, size_t *size);

/* perfmapfile.c: the two steps of opener_direct's perf_map. The second one also works when the process has ended. */
int opener_direct_perf_map(void *ctx, pid_t pid);
struct perf_map_home {
	int root;                /* descriptor of the process's root; -1: none */
	uid_t uid;               /* effective uid of the process */
	pid_t pid;               /* in its own namespace */
};
/* 0 or -errno; close with perf_map_leave(), which may be called twice. */
int perf_map_home(struct perf_map_home *h, pid_t pid);
int perf_map_open(const struct perf_map_home *h);
void perf_map_leave(struct perf_map_home *h);
#endif
