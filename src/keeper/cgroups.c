/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/cgroups.h"

#include "base/room.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

int cgroups_add(struct cgroups *c, int folder)
{
	struct statfs fs;
	struct stat st;

	if (!ROOM_FOR_ONE(c->v, c->n))
		return -ENOMEM;
	if (fstat(folder, &st) || fstatfs(folder, &fs))
		return -errno;
	c->unified = fs.f_type == CGROUP2_SUPER_MAGIC;
	c->v[c->n++] = (struct cgroup){ st.st_dev, st.st_ino };
	return 0;
}

void cgroups_free(struct cgroups *c)
{
	free(c->v);
	*c = (struct cgroups){ 0 };
}

static bool is_one(const struct cgroups *c, const char *folder)
{
	struct stat st;

	if (stat(folder, &st))
		return false;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].dev == st.st_dev && c->v[i].ino == st.st_ino)
			return true;
	return false;
}

/* From a line "NUMBER:CONTROLLERS:PATH": the path, if the line is for the hierarchy in use; or NULL. */
static const char *path_in(const struct cgroups *c, char *line)
{
	char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	return (c->unified ? controllers[1] == '\0' : strstr(controllers, "perf_event") != NULL) ? path : NULL;
}

/* Checks the group of the process and the groups above it. */
static bool is_below(const struct cgroups *c, const char *path)
{
	char folder[PATH_MAX];
	size_t mount = strlen(c->mount);

	if ((size_t)snprintf(folder, sizeof(folder), "%s%s", c->mount, path) >= sizeof(folder))
		return false;
	for (;;) {
		char *slash;

		if (is_one(c, folder))
			return true;
		slash = strrchr(folder, '/');
		if (!slash || (size_t)(slash - folder) < mount)
			return false;
		*slash = '\0';
	}
}

bool cgroups_have(const struct cgroups *c, pid_t pid)
{
	char name[64], *line = NULL;
	const char *path;
	size_t size = 0;
	bool have = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	f = fopen(name, "re");
	while (f && !have && getline(&line, &size, f) > 0) {
		path = path_in(c, line);
		have = path && is_below(c, path);
	}
	if (f)
		fclose(f);
	free(line);
	return have;
}
