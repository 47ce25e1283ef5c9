/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user to whom the run belongs. Opening events may need privilege; running a script does
 * not. So a run that was started by sudo, or with --user, changes to that user for good once
 * its events are open.
 */
#ifndef KEEPER_IDENTITY_H
#define KEEPER_IDENTITY_H

#include "base/fault.h"

#include <stdbool.h>
#include <sys/types.h>

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int ngroups;
	char *name, *home, *shell;
	bool named;              /* by --user: root's environment is not theirs */
	bool own;                /* the user who runs the program: no id changes */
};

/* The user of --user NAME (or number), or else the user who ran sudo. 1: found; 0: no change is
 * needed (not root, root itself, no sudo); -1 with f. */
int identity_find(struct identity *who, const char *user, struct fault *f);
/* The user who runs the program, without the capabilities of the program's file. 1, or -1 with f. */
int identity_own(struct identity *who, struct fault *f);
/* The user who ran sudo, whom passwd(5) need not list. 1: found; 0: there is no sudo; -1 with f. */
int identity_caller(struct identity *who, struct fault *f);
/* A user without privilege, the one that root's parsers run as (symbols/jail/parser.h). 1: found; 0: there is none; -1 with f. */
int identity_nobody(struct identity *who, struct fault *f);
void identity_free(struct identity *who);

/* Changes the process to that user: groups, gid, uid, no capabilities, no way to get any
 * (no_new_privs), no way to type into the terminal (ttyfilter.h). Other processes of the user cannot
 * trace it (PR_SET_DUMPABLE). Other threads are not changed: call this while there is one thread. 0,
 * or -1 with f: then run nothing. */
int identity_drop(const struct identity *who, struct fault *f);
/* identity_drop() for a process that runs the user's own code: other processes of the user can trace it, and HOME, USER, LOGNAME and
 * SHELL are the user's. With --user, all else of the environment is gone but the terminal's kind, the language and the time
 * zone, as with `sudo -u`, and what names Python's modules (PYTHONPATH, PYTHONHOME, VIRTUAL_ENV). What sudo passed on to its
 * caller stays. */
int identity_become(const struct identity *who, struct fault *f);

#endif
