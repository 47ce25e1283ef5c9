/* SPDX-License-Identifier: Apache-2.0 */
#include "base/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* O_NONBLOCK: opening a FIFO instead of a file does not wait. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Files are checked with O_PATH before they are opened, since opening a device can have side effects. */
#define LOOK (O_PATH | O_CLOEXEC)

int opener_read_regular(int path)
{
	char name[64];
	struct stat st;
	int fd;

	if (fstat(path, &st) || !S_ISREG(st.st_mode)) {
		close(path);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	fd = open(name, FLAGS);
	fd = fd < 0 ? -errno : fd;
	close(path);
	return fd;
}

/* Resolves symbolic links inside of the root. */
static int look_below(int root, const char *path)
{
	struct open_how how = { .flags = LOOK, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd >= 0 || errno != ENOSYS)
		return fd < 0 ? -errno : fd;
	fd = openat(root, path + strspn(path, "/"), LOOK);   /* before Linux 5.6 */
	return fd < 0 ? -errno : fd;
}

static int look_in_root_of(pid_t pid, const char *path)
{
	char dir[64];
	int root, fd;

	snprintf(dir, sizeof(dir), "/proc/%d/root", (int)pid);
	root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	fd = look_below(root, path);
	close(root);
	return fd;
}

static int look(const char *path)
{
	int fd = open(path, LOOK);

	return fd < 0 ? -errno : fd;
}

static int direct_file(void *ctx, pid_t pid, const char *path)
{
	int fd;

	if (path[0] != '/')
		return -EINVAL;
	fd = pid ? look_in_root_of(pid, path) : look(path);
	return fd < 0 ? fd : opener_read_regular(fd);
}

static int direct_proc(void *ctx, pid_t pid, const char *name)
{
	char path[128];
	int n, fd;

	if (pid)
		n = snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	else
		n = snprintf(path, sizeof(path), "/proc/%s", name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, FLAGS);
	if (fd < 0)
		return pid && errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

static int direct_mapped(void *ctx, pid_t pid, uint64_t start, uint64_t end)
{
	char path[128];
	int fd;

	if (start)
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
			 (unsigned long long)start, (unsigned long long)end);
	else
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = look(path);
	return fd < 0 ? fd : opener_read_regular(fd);
}

const struct opener opener_direct = {
	direct_file, direct_proc, NULL, opener_direct_perf_map, direct_mapped, NULL, NULL, NULL,
};

int opener_file(const struct opener *o, pid_t pid, const char *path)
{
	return o->file(o->ctx, pid, path);
}

int opener_proc(const struct opener *o, pid_t pid, const char *name)
{
	return o->proc(o->ctx, pid, name);
}

int opener_perf_map(const struct opener *o, pid_t pid)
{
	return o->perf_map ? o->perf_map(o->ctx, pid) : -ENOSYS;
}

const char *opener_kept_map(const struct opener *o, pid_t pid, size_t i, size_t *size)
{
	return o->kept_map ? o->kept_map(o->ctx, pid, i, size) : NULL;
}

int opener_mapped(const struct opener *o, pid_t pid, uint64_t start, uint64_t end)
{
	return o->mapped ? o->mapped(o->ctx, pid, start, end) : -ENOSYS;
}
