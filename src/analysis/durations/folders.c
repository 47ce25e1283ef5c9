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

/* One that cannot be reached from our root is no path here. */
static struct folder *read_one(struct folders *f, pid_t pid)
{
	static const char deleted[] = " (deleted)";
	char link[64], path[PATH_MAX];
	ssize_t n = -1;

	snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	if (f->now && pid > 0)
		n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return NULL;
	path[n] = '\0';
	if ((size_t)n > strlen(deleted) && !strcmp(path + n - strlen(deleted), deleted))
		path[(size_t)n - strlen(deleted)] = '\0';
	return set(f, pid, path, f->now(f->ctx));
}

static struct folder *of(struct folders *f, pid_t pid)
{
	struct folder *one = find(f, pid);

	return one ? one : read_one(f, pid);
}

static void take_process(void *ctx, pid_t pid)
{
	read_one(ctx, pid);
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
