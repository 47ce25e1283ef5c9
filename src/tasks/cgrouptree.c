/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/cgrouptree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEPTH = 32 };

int cgrouptree_mount(char *buf, size_t size)
{
	FILE *m = setmntent("/proc/self/mounts", "r");
	struct mntent *e;
	int rc = -ENOENT;

	while (m && (e = getmntent(m))) {
		bool v1 = !strcmp(e->mnt_type, "cgroup") && hasmntopt(e, "perf_event");

		if (!v1 && (rc == 0 || strcmp(e->mnt_type, "cgroup2")))
			continue;
		snprintf(buf, size, "%s", e->mnt_dir);
		rc = 0;
		if (v1)
			break;
	}
	if (m)
		endmntent(m);
	return rc;
}

struct walk {
	cgrouptree_fn *fn;
	void *ctx;
	char path[PATH_MAX];
	size_t len;
	int depth;
};

static int walk_folder(struct walk *w, int folder);

static int enter(struct walk *w, int folder, const char *name)
{
	size_t before = w->len, n = strlen(name);
	int fd, rc;

	if (w->len + 1 + n >= sizeof(w->path))
		return 0;
	w->path[w->len] = '/';
	memcpy(w->path + w->len + 1, name, n + 1);
	w->len += 1 + n;
	rc = w->fn(w->ctx, w->path, w->path + before + 1);
	fd = rc || w->depth == MAX_DEPTH ? -1 : openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		rc = walk_folder(w, fd);
	w->len = before;
	w->path[before] = '\0';
	return rc;
}

/* Takes over the descriptor. */
static int walk_folder(struct walk *w, int folder)
{
	DIR *dir = fdopendir(folder);
	struct dirent *d;
	int rc = 0;

	if (!dir)
		return close(folder), 0;
	w->depth++;
	while (!rc && (d = readdir(dir)))
		if (d->d_type == DT_DIR && d->d_name[0] != '.')
			rc = enter(w, folder, d->d_name);
	w->depth--;
	closedir(dir);
	return rc;
}

int cgrouptree_each(const char *mount, cgrouptree_fn *fn, void *ctx)
{
	struct walk w = { .fn = fn, .ctx = ctx };
	int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? 0 : walk_folder(&w, fd);
}

/* -1: it cannot be read; threaded groups (v2) refuse cgroup.procs, and have tasks */
static int has_tasks(int folder, const char *path)
{
	char name[PATH_MAX], byte;
	int fd = snprintf(name, sizeof(name), "%s/cgroup.procs", path) < (int)sizeof(name)
		 ? openat(folder, name, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, &byte, 1);

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : n > 0;
}

static int find_tasks(void *ctx, const char *path, const char *name)
{
	const int *folder = ctx;

	(void)name;
	return has_tasks(*folder, path + 1);
}

bool cgrouptree_is_empty(int folder)
{
	struct walk w = { .fn = find_tasks, .ctx = &folder };
	int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return own >= 0 && !walk_folder(&w, own) && !has_tasks(folder, ".");
}
