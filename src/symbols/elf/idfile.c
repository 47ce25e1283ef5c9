/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/idfile.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void idfile_path(char *path, size_t n, const char *folder, const uint8_t *id, size_t size, const char *suffix)
{
	size_t len = (size_t)snprintf(path, n, "%s/.build-id/%02x/", folder, id[0]);

	for (size_t i = 1; i < size && len < n; i++)
		len += (size_t)snprintf(path + len, n - len, "%02x", id[i]);
	if (len < n)
		snprintf(path + len, n - len, "%s", suffix);
}

/* Whether only this user can change the folder: the environment may come from another user. */
static bool is_own(const char *home, uid_t uid)
{
	struct stat st;

	return home && home[0] == '/' && !stat(home, &st) && S_ISDIR(st.st_mode) && st.st_uid == uid &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static const char *home_of(uid_t uid)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (is_own(home, uid))
		return home;
	user = getpwuid(uid);
	return user ? user->pw_dir : "";
}

/* The home folder may be looked up over a network: done once per user of this process. */
const char *idfile_cache(uid_t uid)
{
	static char folder[PATH_MAX / 2];
	static uid_t known = (uid_t)-1;
	const char *home;

	if (known == uid)
		return folder;
	known = uid;
	home = home_of(uid);
	if (home[0] != '/' || (size_t)snprintf(folder, sizeof(folder), "%s/.debug", home) >= sizeof(folder))
		folder[0] = '\0';
	return folder;
}

int idfile_cached(const uint8_t *id, size_t size, const char *what)
{
	const char *folder = size < 2 ? "" : idfile_cache(geteuid());
	char suffix[32], path[PATH_MAX];

	if (!folder[0])
		return -ENOENT;
	snprintf(suffix, sizeof(suffix), "/%s", what);
	idfile_path(path, sizeof(path), folder, id, size, suffix);
	return opener_file(&opener_direct, 0, path);
}

int idfile_find(const struct opener *o, const uint8_t *id, size_t size, const char *what)
{
	int fd = idfile_cached(id, size, what);

	return fd >= 0 || !o->cached ? fd : o->cached(o->ctx, id, size, what);
}
