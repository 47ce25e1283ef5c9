/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current folder of each process: from /proc when it is first asked for, then as forks, exits and chdir(2) change it.
 *
 * Records come late: when one is handled, /proc may be newer. So each folder that was read has the time of that, and changes
 * from before it are in it already. What was read is kept in the recording, if there is one.
 */
#ifndef ANALYSIS_SYSCALLS_FOLDERS_H
#define ANALYSIS_SYSCALLS_FOLDERS_H

#include "perfevent.h"
#include "table/groups.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Folders that a run has read from the file system, as lines in its recording, whose reader cannot read them again.
 *
 *	PID AT READ FD PATH	at the event of time AT (0: before all events), PATH was the folder of the process (FD -1), or
 *				of a descriptor. READ: when it was read; 0: it is what a call has changed to
 */

enum { KEPTFOLDER_CWD = -1, KEPTFOLDER_LINE = PATH_MAX + 128 };

/* Initialized by zeros. */
struct keptfolders {
	struct groups all;           /* of struct keptfolder */
};

struct keptfolder_key {
	pid_t pid;
	int fd;
	uint64_t at;
};

/* Takes a folder from before all events. */
typedef void keptfolders_taker(void *ctx, pid_t pid, const char *path, uint64_t read);

/* Puts the line. False: it cannot be one. */
bool keptfolders_line(const struct keptfolder_key *key, uint64_t read, const char *path, char buf[KEPTFOLDER_LINE]);
/* Takes lines; each whole one is checked. */
void keptfolders_take(struct keptfolders *k, const char *text, size_t size);
/* The path, or NULL. */
const char *keptfolders_find(const struct keptfolders *k, const struct keptfolder_key *key, uint64_t *read);
void keptfolders_free(struct keptfolders *k);

/* Where folders and files are behind the symbolic links in their paths, which the kernel knows from processes that have just used
 * them. */

/* Initialized by zeros. */
struct folderlinks {
	struct folderlink *all;   /* by path */
};

/* Initialized by zeros, but for `now` and `keep`. */
struct folders {
	uint64_t (*now)(void *ctx);   /* the perf clock; NULL: it is a recording, for which /proc is not read */
	void (*keep)(void *ctx, const char *line);   /* a line of keptfolders.h for the recording */
	void *ctx;
	uint64_t at;                  /* perf clock: the event that is handled */
	struct groups all;            /* of struct folder, by process */
	struct folderlinks links;
	struct keptfolders kept;      /* of a recording */
};

/* Reads the folders of all running processes; those that end soon could not be read later. Of a recording: those that it has. */
void folders_read_all(struct folders *f);
/* Takes FORK and EXIT records; ignores others. */
void folders_take(struct folders *f, const struct pev_record *rec);
/* The process has changed its folder to `path`, which may be relative; "": it is not known to which. Symbolic links in it are
 * followed now, if it is not a recording. time: perf clock. */
void folders_change(struct folders *f, pid_t pid, const char *path, uint64_t time);
/* The process has another root, or other mounts: its paths are not ours. */
void folders_leave(struct folders *f, pid_t pid);
/* The process's threads have a folder each from now on, or (shares) the child that it makes next has the same one, whoever of the two
 * changes it: which one it is at a call is not known. */
void folders_split(struct folders *f, pid_t pid, bool shares);
/* Whether the process has several threads now; of a recording, it is not known. */
bool folders_has_threads(const struct folders *f, pid_t pid);
/* Puts the absolute path of a relative one, without "." and ".."; links are not followed. False: the folder is not known, or the
 * path is too long. */
bool folders_resolve(struct folders *f, pid_t pid, const char *path, char *buf, size_t size);
/* folders_resolve() for a known folder. */
bool folders_join(const char *folder, const char *path, char *buf, size_t size);
/* Reads which folder a descriptor is, or KEPTFOLDER_CWD. *read: perf clock, when it was that path. False: it has no absolute
 * path that is valid here, or is not known. */
bool folders_look(struct folders *f, pid_t pid, int fd, char path[PATH_MAX], uint64_t *read);
/* Puts the path behind the links that lead to its folder; a link at its end stays. path: absolute, as the process gives it. False:
 * there are none, or it is not known, as in recordings. */
bool folders_follow(struct folders *f, pid_t pid, const char *path, char buf[PATH_MAX]);
/* folders_follow(), and a link at the path's end, too. */
bool folders_follow_end(struct folders *f, pid_t pid, const char *path, char buf[PATH_MAX]);
/* Records were lost. */
void folders_forget(struct folders *f);
void folders_free(struct folders *f);
#endif
