/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with the rights of who called sudo, groups included: what is written belongs to the
 * caller, and what the caller may not read or write stays so. Does nothing where there is no
 * sudo, or the process is nobody's but the caller's already.
 */
#ifndef BASE_CALLER_H
#define BASE_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

struct caller_rights {
	bool changed;
	uid_t uid;               /* of the caller, when changed */
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

/* From here on, accesses of this thread to files are the caller's. */
void caller_begin(struct caller_rights *r);
/* The same for any user, by root: without a capability, until caller_end(). */
void caller_begin_as(struct caller_rights *r, const struct caller *who);
/* As before. errno stays. */
void caller_end(struct caller_rights *r);
/* Whether this is root for a user who ran sudo, and for whom. */
bool caller_of_sudo(uid_t *uid);
/* The same, also where the process has become that user since: for messages. */
bool caller_ran_sudo(uid_t *uid);
/* Who it is with all groups where this is root for a user who ran sudo; *groups, which may be NULL, is to be freed. */
bool caller_find(struct caller *who, gid_t **groups);
/* The groups of a user, gid among them: how many, or -1 without memory. */
int caller_groups(const char *name, gid_t gid, gid_t **groups);
#endif
