/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a call's paths match a glob of --match. A call with two paths matches with either. If the glob is for absolute paths
 * (it begins with a slash, or with a star and a slash), a path counts as what it means, without "." and ".."; a relative one, in the
 * process's current folder (folders.h) or below a descriptor (dirfds.h). One that does not match is also compared behind the links
 * to its folder, and behind a link at its end if the call has followed it (folderlinks.h).
 * A path that a glob with '!' matches, in one of these ways, does not match.
 */
#ifndef ANALYSIS_SYSCALLS_PATHMATCH_H
#define ANALYSIS_SYSCALLS_PATHMATCH_H

#include "analysis/syscalls/callpaths.h"
#include "analysis/syscalls/dirfds.h"
#include "engine/analysis.h"

/* The arguments of each thread's present call, of those calls for which they are asked. */

enum { CALLARGS = 3 };   /* the first ones */

/* Initialized by zeros. */
struct callargs {
	const struct trace_field *field;   /* `args` of sys_enter; NULL: they were not sampled */
	struct groups all;           /* of struct callargs_call, by thread */
};

enum { PATHMATCH_GLOBS = 32 };   /* of each kind */

/* Initialized by zeros. */
struct pathmatch {
	const char *globs[PATHMATCH_GLOBS];     /* --match: one of them has to match; none: every path matches */
	const char *without[PATHMATCH_GLOBS];   /* globs whose paths do not match, without their '!' */
	size_t nglobs, nwithout;
	bool ordered;                 /* the first path of a call is its first argument that is one */
	bool keeps;                   /* folders are looked up for the recording, with any glob: another may be asked later */
	bool untracked;               /* not all calls are seen, so that no folder is known */
	bool found;                   /* a path has matched */
	struct callargs args;
	struct folders folders;
	struct dirfds dirfds;
	uint32_t kinds[1024];         /* by the call's number; 0: not looked up */
	size_t second;                /* where the second path begins in the text that pathmatch_find() put; 0: it has none */
	char text[CALLPATH_SIZE];
};

/* A call that returned: its paths as callpaths_text() has them, and where the second begins (NULL: it has none). */
struct pathmatch_call {
	pid_t pid, tid;
	int64_t number;
	const char *text, *second;
	bool succeeded;
};

enum pathmatch_found { PATHMATCH_NO, PATHMATCH_YES, PATHMATCH_UNKNOWN };   /* UNKNOWN: relative to a folder that is not known */

/* The value of --match, which may be given again; match: a struct pathmatch. */
int pathmatch_parse(const char *text, void *match, struct fault *f);
/* Whether one of the globs, but those with '!', matches that text. */
bool pathmatch_fits(const struct pathmatch *m, const char *text);
/* Whether that glob is for whole paths. */
bool pathmatch_follows(const char *glob);
/* Whether one of the globs is: folders are needed then, and the arguments of all calls. */
bool pathmatch_is_whole(const struct pathmatch *m);
/* Whether folders are followed: for the glob, or for the recording. */
bool pathmatch_is_following(const struct pathmatch *m);
/* Whether calls of that number are followed for the paths of others. */
bool pathmatch_follows_call(int64_t number);
/* To be called for each sample first, with its time. */
void pathmatch_at(struct pathmatch *m, uint64_t time);
/* A call begins, of which the arguments are sampled. */
void pathmatch_enter(struct pathmatch *m, const struct analysis_sample *s, int64_t number);
/* Whether the thread's call is about a descriptor itself: it has none of the paths that it may have, as utimensat(fd, NULL). */
bool pathmatch_lacks_path(struct pathmatch *m, pid_t tid, int64_t number);
/* For what the thread's call opens a file: openflags_code(); 0: it is no such call, or it is not known. */
uint32_t pathmatch_flags(struct pathmatch *m, pid_t tid, int64_t number);
/* *text: the paths for the row, with those that were resolved. Valid until the next call of this function. */
enum pathmatch_found pathmatch_find(struct pathmatch *m, const struct pathmatch_call *c, const char **text);
/* With pathmatch_is_following(): the call has succeeded. c->text: "" if the path is not known. time: perf clock. */
void pathmatch_succeeded(struct pathmatch *m, const struct pathmatch_call *c, int64_t result, uint64_t time);
void pathmatch_task(struct pathmatch *m, const struct pev_record *rec);
void pathmatch_lost(struct pathmatch *m);
void pathmatch_free(struct pathmatch *m);
#endif
