/* SPDX-License-Identifier: Apache-2.0 */
#include "base/caller.h"

#include "base/units.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool id_of(const char *name, uint32_t *id)
{
	const char *text = getenv(name);
	uint64_t n;

	if (!text || units_u64(text, &n) || n >= UINT32_MAX)
		return false;
	*id = (uint32_t)n;
	return true;
}

bool caller_of_sudo(uid_t *uid)
{
	return !geteuid() && id_of("SUDO_UID", uid) && *uid;
}

int caller_groups(const char *name, gid_t gid, gid_t **groups)
{
	int n = 32, room;
	gid_t *p;

	*groups = NULL;
	do {
		room = n;
		p = reallocarray(*groups, (size_t)n, sizeof(*p));
		if (!p) {
			free(*groups);
			*groups = NULL;
			return -1;
		}
		*groups = p;
	} while (getgrouplist(name, gid, p, &n) < 0 && (n = n > room ? n : 2 * room));
	return n;
}

/* Of this thread alone: setgroups(3) would change all. */
static int set_groups(int n, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, (size_t)n, groups);
}

/* Who isn't in the list of users has no group but the one that sudo names. */
static void take_groups(struct caller_rights *r, gid_t gid)
{
	const struct passwd *pw = getpwuid(r->uid);
	gid_t *groups = NULL;
	int n = pw ? caller_groups(pw->pw_name, gid, &groups) : 0;

	r->ngroups = getgroups(0, NULL);
	r->groups = r->ngroups > 0 ? calloc((size_t)r->ngroups, sizeof(gid_t)) : NULL;
	if (r->groups)
		r->ngroups = getgroups(r->ngroups, r->groups);
	/* those of root are given up even where there is no memory for the list of them */
	set_groups(n > 0 ? n : 0, groups);
	free(groups);
}

/* Leaving fsuid 0 also takes the capabilities over files away (capabilities(7)). */
void caller_begin(struct caller_rights *r)
{
	gid_t gid;
	uid_t uid;

	*r = (struct caller_rights){ 0 };
	if (!caller_of_sudo(&uid) || !id_of("SUDO_GID", &gid))
		return;
	r->changed = true;
	r->uid = uid;
	take_groups(r, gid);
	r->fsgid = setfsgid(gid);
	r->fsuid = setfsuid(uid);
}

void caller_end(struct caller_rights *r)
{
	int error = errno;

	if (r->changed) {
		setfsuid((uid_t)r->fsuid);
		setfsgid((gid_t)r->fsgid);
		set_groups(r->groups ? r->ngroups : 0, r->groups);
		free(r->groups);
	}
	errno = error;
}
