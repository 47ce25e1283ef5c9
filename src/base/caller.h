/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to files with the rights and groups of the user who ran sudo: files that are written belong to that user,
 * and files that the user may not read or write stay protected. Does nothing without sudo, or if the process is not
 * root.
 */
#ifndef BASE_CALLER_H
#define BASE_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

struct caller_rights {
	bool changed;
	uid_t uid;               /* of the user, if changed */
	int fsuid, fsgid;        /* before */
	gid_t *groups;           /* before; NULL: none */
	int ngroups;
};

struct caller {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	int ngroups;
};

/* From here on, this thread accesses files as the user who ran sudo. */
void caller_begin(struct caller_rights *r);
/* From here on, this thread accesses files as any user, if the process is root; it has no capabilities until caller_end(). */
void caller_begin_as(struct caller_rights *r, const struct caller *who);
/* Restores the rights. Keeps errno. */
void caller_end(struct caller_rights *r);
/* Whether the process is root and was started by sudo; sets the user who ran it. */
bool caller_of_sudo(uid_t *uid);
/* caller_of_sudo(), also if the process has changed to that user since: for messages. */
bool caller_ran_sudo(uid_t *uid);
/* The user who ran sudo, with all groups, if the process is root; free *groups, which may be NULL. */
bool caller_find(struct caller *who, gid_t **groups);
/* All groups of a user, including gid: their number, or -1 if out of memory. */
int caller_groups(const char *name, gid_t gid, gid_t **groups);
#endif
