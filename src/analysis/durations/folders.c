/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/folders.h"

#include "base/hash.h"
#include "tasks/threads.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* When there are more, it begins anew. */
enum { MAX_PROCESSES = 1 << 16 };

struct folder {
	pid_t pid;
	uint64_t read;           /* perf clock: when /proc had it; 0: it was inherited, or follows from a call */
	char *path;              /* absolute */
	UT_hash_handle hh;
};

/* ---- paths ------------------------------------------------------------------------------ */

/* Puts a path's parts behind the first `used` bytes, which are an absolute path. */
static bool append(const char *path, char *buf, size_t size, size_t used)
{
	for (size_t len; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (!len || (len == 1 && *path == '.'))
			continue;
		if (len == 2 && !strncmp(path, "..", 2)) {
			while (used && buf[--used] != '/')
				;
			continue;
		}
		if (used + 1 + len >= size)
			return false;
		buf[used++] = '/';
		memcpy(buf + used, path, len);
		used += len;
	}
	buf[used] = '\0';
	if (!used)
		snprintf(buf, size, "/");
	return true;
}

static bool join(const char *folder, const char *path, char *buf, size_t size)
{
	const size_t used = *path == '/' || !folder[1] ? 0 : strlen(folder);   /* all but "/" end without a slash */

	if (used >= size)
		return false;
	memcpy(buf, folder, used);
	return append(path, buf, size, used);
}

/* ---- processes -------------------------------------------------------------------------- */

static struct folder *find(const struct folders *f, pid_t pid)
{
	struct folder *one;

	HASH_FIND(hh, f->all, &pid, sizeof(pid), one);
	return one;
}

static void drop(struct folders *f, struct folder *one)
{
	HASH_DEL(f->all, one);
	free(one->path);
	free(one);
}

static struct folder *set(struct folders *f, pid_t pid, const char *path, uint64_t read)
{
	struct folder *one = find(f, pid);
	char *copy = strdup(path);   /* it may be that of the folder that is dropped */

	if (one)
		drop(f, one);
	if (HASH_COUNT(f->all) >= MAX_PROCESSES)
		folders_forget(f);
	one = copy ? calloc(1, sizeof(*one)) : NULL;
	if (one) {
		one->pid = pid;
		one->read = read;
		one->path = copy;
		HASH_ADD(hh, f->all, pid, sizeof(one->pid), one);
		one = HASH_KEPT(one);
	}
	if (!one)
		free(copy);
	return one;
}

/* False: it is not there, or cut. */
static bool read_link(pid_t pid, const char *name, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", (int)pid, name);
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
	return n > 0 && n < PATH_MAX - 1;
}

/* One that was deleted has no path, and one that cannot be reached from our root none here. */
static bool is_path(const char *path)
{
	static const char deleted[] = " (deleted)";
	const size_t n = strlen(path), end = strlen(deleted);

	return *path == '/' && (n < end || strcmp(path + n - end, deleted));
}

/* At *time it was that one: it is the same before and after. Under another root, calls name other paths than /proc. */
static bool read_at(struct folders *f, pid_t pid, char path[PATH_MAX], uint64_t *time)
{
	enum { TRIES = 3 };
	char root[PATH_MAX], again[PATH_MAX];

	if (!read_link(pid, "root", root) || strcmp(root, "/"))
		return false;
	for (int i = 0; i < TRIES && read_link(pid, "cwd", path); i++) {
		*time = f->now(f->ctx);
		if (read_link(pid, "cwd", again) && !strcmp(path, again))
			return is_path(path);
	}
	return false;
}

static struct folder *read_one(struct folders *f, pid_t pid)
{
	char path[PATH_MAX];
	uint64_t time;

	return f->now && pid > 0 && read_at(f, pid, path, &time) ? set(f, pid, path, time) : NULL;
}

static struct folder *of(struct folders *f, pid_t pid)
{
	struct folder *one = find(f, pid);

	return one ? one : read_one(f, pid);
}

static void take_process(void *ctx, pid_t pid)
{
	struct folders *f = ctx;

	if (HASH_COUNT(f->all) < MAX_PROCESSES)
		read_one(f, pid);
}

void folders_read_all(struct folders *f)
{
	if (f->now)
		threads_each_process(take_process, f);
}

/* A folder of the child that was read after the fork is newer than the parent's. */
static void inherit(struct folders *f, const struct pev_task *fork)
{
	struct folder *child = find(f, (pid_t)fork->pid), *parent;

	if (child && child->read > fork->time)
		return;
	if (child)
		drop(f, child);
	parent = of(f, (pid_t)fork->ppid);
	if (parent)
		set(f, (pid_t)fork->pid, parent->path, 0);
}

void folders_take(struct folders *f, const struct pev_record *rec)
{
	struct folder *one;

	if (rec->type == PERF_RECORD_FORK && rec->task.pid != rec->task.ppid)
		inherit(f, &rec->task);
	else if (rec->type == PERF_RECORD_EXIT && rec->task.pid == rec->task.tid && (one = find(f, (pid_t)rec->task.pid)))
		drop(f, one);
}

void folders_change(struct folders *f, pid_t pid, const char *path, uint64_t time)
{
	struct folder *one = find(f, pid);
	char whole[PATH_MAX];

	if (one && one->read > time)
		return;
	if (*path && (one || *path == '/') && join(one ? one->path : "/", path, whole, sizeof(whole))) {
		set(f, pid, whole, 0);
		return;
	}
	if (one)
		drop(f, one);
	read_one(f, pid);
}

bool folders_resolve(struct folders *f, pid_t pid, const char *path, char *buf, size_t size)
{
	const struct folder *one = of(f, pid);

	return one && join(one->path, path, buf, size);
}

void folders_forget(struct folders *f)
{
	struct folder *one, *next;

	HASH_ITER(hh, f->all, one, next)
		drop(f, one);
}
