/* SPDX-License-Identifier: Apache-2.0 */
#include "base/caller.h"

#include "base/units.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
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

/* Leaving fsuid 0 also takes the capabilities over files away (capabilities(7)). */
void caller_begin(struct caller_rights *r)
{
	uint32_t uid, gid;

	*r = (struct caller_rights){ 0 };
	if (geteuid() || !id_of("SUDO_UID", &uid) || !id_of("SUDO_GID", &gid) || !uid)
		return;
	r->changed = true;
	r->uid = uid;
	r->fsgid = setfsgid(gid);
	r->fsuid = setfsuid(uid);
}

void caller_end(const struct caller_rights *r)
{
	int error = errno;

	if (r->changed) {
		setfsuid((uid_t)r->fsuid);
		setfsgid((gid_t)r->fsgid);
	}
	errno = error;
}
