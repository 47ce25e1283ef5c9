/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current folder of each process: from /proc when it is first asked for, then as forks, exits and chdir(2) change it.
 *
 * Records come late: when one is handled, /proc may be newer. So each folder that was read has the time of that, and changes
 * from before it are in it already.
 */
#ifndef ANALYSIS_DURATIONS_FOLDERS_H
#define ANALYSIS_DURATIONS_FOLDERS_H

#include "perfevent.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Initialized by zeros, but for `now`. */
struct folders {
	uint64_t (*now)(void *ctx);   /* the perf clock; NULL: it is a recording, for which /proc is not read */
	void *ctx;
	struct folder *all;           /* by process */
};

/* Reads the folders of all running processes; those that end soon could not be read later. */
void folders_read_all(struct folders *f);
/* Takes FORK and EXIT records; ignores others. */
void folders_take(struct folders *f, const struct pev_record *rec);
/* The process has changed its folder to `path`, which may be relative; "": it is not known to which. Symbolic links in it are
 * followed now, if it is not a recording. time: perf clock. */
void folders_change(struct folders *f, pid_t pid, const char *path, uint64_t time);
/* The process has another root, or other mounts: its paths are not ours. */
void folders_leave(struct folders *f, pid_t pid);
/* Puts the absolute path of a relative one, without "." and ".."; links are not followed. False: the folder is not known, or the
 * path is too long. */
bool folders_resolve(struct folders *f, pid_t pid, const char *path, char *buf, size_t size);
/* The same for a known folder. */
bool folders_join(const char *folder, const char *path, char *buf, size_t size);
/* Reads a link below /proc/PID, such as "fd/3". *read: perf clock, when it was that path. False: it is no absolute path that is valid
 * here, or it is a recording. */
bool folders_look(struct folders *f, pid_t pid, const char *link, char path[PATH_MAX], uint64_t *read);
/* Records were lost, or it is the end. */
void folders_forget(struct folders *f);
#endif
