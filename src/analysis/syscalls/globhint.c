/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/globhint.h"

#include "analysis/syscalls/folders.h"
#include "analysis/syscalls/pathmatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *glob)
{
	struct stat st;

	return !strpbrk(glob, "*?[") && !stat(glob, &st) && S_ISDIR(st.st_mode);
}

/* Such as "app.conf" or "./logs/"; not "*.log", and no address. */
static bool is_relative(const char *glob)
{
	return *glob && !pathmatch_follows(glob) && *glob != '*' && *glob != '@' && !strchr(glob, ':');
}

/* What the user may mean by it: in this folder, or in any. */
static void put_whole(const char *glob, bool here, char whole[PATH_MAX])
{
	char folder[PATH_MAX];

	if (here && strchr(glob, '/') && getcwd(folder, sizeof(folder)) && folders_join(folder, glob, whole, PATH_MAX))
		return;
	snprintf(whole, PATH_MAX, "*/%s", strncmp(glob, "./", 2) ? glob : glob + 2);
}

/* The folder in which a glob for whole paths begins may be behind a symbolic link. */
static bool put_behind_link(const char *glob, char *buf, size_t size)
{
	char folder[PATH_MAX], real[PATH_MAX];
	size_t n = strcspn(glob, "*?[");

	while (n > 1 && glob[n - 1] != '/')
		n--;
	if (*glob != '/' || n < 2 || snprintf(folder, sizeof(folder), "%.*s", (int)n - 1, glob) >= (int)sizeof(folder) ||
	    !realpath(folder, real) || !strcmp(folder, real))
		return false;
	snprintf(buf, size, "%s leads to %s: --match '%s%s' matches paths in it", folder, real, real[1] ? real : "", glob + n - 1);
	return true;
}

/* A file that programs may have opened before, so that no call has its path; after a star and a slash, one in the current folder. */
static bool put_held_file(const char *glob, char *buf, size_t size)
{
	const char *file = strncmp(glob, "*/", 2) ? glob : glob + 2;
	struct stat st;

	if (!pathmatch_follows(glob) || strpbrk(file, "*?[") || stat(file, &st) || !S_ISREG(st.st_mode))
		return false;
	snprintf(buf, size, "programs may have opened %s before; what writes to it is shown by: perf-prof trace -e "
		 "writeback:writeback_mark_inode_dirty/ino==%llu/", file, (unsigned long long)st.st_ino);
	return true;
}

bool globhint_text(const char *glob, bool here, char *buf, size_t size)
{
	char whole[PATH_MAX], folder[PATH_MAX];

	if (here && is_folder(glob)) {
		if (*glob == '/' || !getcwd(folder, sizeof(folder)))
			snprintf(folder, sizeof(folder), "/");
		if (!folders_join(folder, glob, whole, sizeof(whole)))
			return false;
		snprintf(buf, size, "%s is a folder: --match '%s/*' matches the files in it", glob, whole[1] ? whole : "");
		return true;
	}
	if (here && (put_behind_link(glob, buf, size) || put_held_file(glob, buf, size)))
		return true;
	if (!here && *glob == '/') {
		snprintf(buf, size, "in a recording, symbolic links in paths are not followed: the glob has to match the paths that the programs gave");
		return true;
	}
	if (!is_relative(glob))
		return false;
	put_whole(glob, here, whole);
	snprintf(buf, size, "'%s' is compared with paths as programs give them: a glob for whole paths begins with / or */, "
		 "such as '%s'", glob, whole);
	return true;
}
