/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose run it is. Opening events may need privilege; running a script does not. So a
 * run that was started by sudo, or with --user, becomes that user's for good once its
 * events are open.
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
	char *name, *home;
	bool own;                /* who runs the program already: no id changes */
};

/* --user NAME (or number), or else the caller of sudo. 1: found; 0: there is nobody to
 * become (not root, root itself, no sudo); -1 with f. */
int identity_find(struct identity *who, const char *user, struct fault *f);
/* Who runs the program, without the capabilities that its file has given. 0, or -1 with f. */
int identity_own(struct identity *who, struct fault *f);
/* The caller of sudo, who need not be in the list of users. 1: found; 0: there is no sudo; -1 with f. */
int identity_caller(struct identity *who, struct fault *f);
/* Nobody else, as root's parsers (symbols/parser.h). 1; 0: there is no such user; -1 with f. */
int identity_nobody(struct identity *who, struct fault *f);
void identity_free(struct identity *who);

/* Becomes that user: groups, gid, uid, no capability left, none to be had any more
 * (no_new_privs), no way to type into the terminal (ttyfilter.h). Other processes of the user can't
 * look into this one. Threads that exist already are not changed: call it while there is one. 0, or
 * -1 with f: then nothing may be run. */
int identity_drop(const struct identity *who, struct fault *f);
/* The same for one that runs what is the user's: they can, and HOME and the like are in the environment. */
int identity_become(const struct identity *who, struct fault *f);

#endif
