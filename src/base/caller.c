/* SPDX-License-Identifier: Apache-2.0 */
#include "base/caller.h"

#include "base/units.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
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

bool caller_ran_sudo(uid_t *uid)
{
	return caller_of_sudo(uid) || (id_of("SUDO_UID", uid) && *uid && *uid == geteuid());
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

/* For this thread only: setgroups(3) would change all threads. */
static int set_groups(int n, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, (size_t)n, groups);
}

/* Sets the effective capabilities of this thread: none, or all permitted ones. With capabilities, /proc/PID/root
 * would lead to folders that the user cannot enter. */
static int set_capabilities(bool none)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, caps))
		return -1;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		caps[i].effective = none ? 0 : caps[i].permitted;
	return (int)syscall(SYS_capset, &header, caps);
}

static void keep_groups(struct caller_rights *r)
{
	r->ngroups = getgroups(0, NULL);
	r->groups = r->ngroups > 0 ? calloc((size_t)r->ngroups, sizeof(gid_t)) : NULL;
	if (r->groups)
		r->ngroups = getgroups(r->ngroups, r->groups);
}

void caller_begin_as(struct caller_rights *r, const struct caller *who)
{
	*r = (struct caller_rights){ .changed = true, .uid = who->uid };
	keep_groups(r);
	set_groups(who->ngroups, who->groups);
	r->fsgid = setfsgid(who->gid);
	r->fsuid = setfsuid(who->uid);
	set_capabilities(true);
}

/* A user without an entry in passwd(5) has only the group in SUDO_GID. */
bool caller_find(struct caller *who, gid_t **groups)
{
	const struct passwd *pw;
	int n;

	*groups = NULL;
	if (!caller_of_sudo(&who->uid) || !id_of("SUDO_GID", &who->gid))
		return false;
	pw = getpwuid(who->uid);
	n = pw ? caller_groups(pw->pw_name, who->gid, groups) : 0;
	who->ngroups = n > 0 ? n : 0;
	who->groups = *groups;
	return true;
}

void caller_begin(struct caller_rights *r)
{
	struct caller who;
	gid_t *groups;

	*r = (struct caller_rights){ 0 };
	if (!caller_find(&who, &groups))
		return;
	caller_begin_as(r, &who);
	free(groups);
}

void caller_end(struct caller_rights *r)
{
	int error = errno;

	if (r->changed) {
		set_capabilities(false);
		setfsuid((uid_t)r->fsuid);
		setfsgid((gid_t)r->fsgid);
		set_groups(r->groups ? r->ngroups : 0, r->groups);
		free(r->groups);
	}
	errno = error;
}
