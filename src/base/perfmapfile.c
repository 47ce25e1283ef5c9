/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /tmp/perf-PID.map of a process: in its root, by its pid in its own namespace. Anybody may write
 * to /tmp, so a symbolic link or another user's file is refused: it could be a trap. All lookups
 * go through one descriptor of /proc/PID, so that they are about the same process.
 */
#include "base/opener.h"
#include "base/procstatus.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_status(int dir, struct perf_map_home *h)
{
	long uid = procstatus_in(dir, "status", "\nUid:", 1), pid = procstatus_in(dir, "status", "\nNSpid:", -1);

	if (uid < 0 || pid <= 0)
		return uid == -ESRCH || pid == -ESRCH ? -ESRCH : -ENOENT;
	h->uid = (uid_t)uid;
	h->pid = (pid_t)pid;
	return 0;
}

int perf_map_home(struct perf_map_home *h, pid_t pid)
{
	char path[64];
	int dir, rc;

	*h = (struct perf_map_home){ .root = -1 };
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -ESRCH;
	rc = read_status(dir, h);
	if (!rc) {
		h->root = openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
		rc = h->root < 0 ? -errno : 0;
	}
	close(dir);
	return rc;
}

void perf_map_leave(struct perf_map_home *h)
{
	if (h->root >= 0)
		close(h->root);
	h->root = -1;
}

static int open_in_tmp(const struct perf_map_home *h)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)h->pid);
	fd = (int)syscall(SYS_openat2, h->root, path, &how, sizeof(how));
	if (fd < 0 && errno == ENOSYS)   /* before Linux 5.6 */
		fd = openat(h->root, path + 1, (int)how.flags);
	return fd < 0 ? -errno : fd;
}

static int check(int fd, const struct perf_map_home *h)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
		return -EINVAL;
	if (st.st_uid == h->uid || (!st.st_uid && (st.st_mode & S_IROTH)))
		return 0;
	return -EPERM;
}

int perf_map_open(const struct perf_map_home *h)
{
	int fd = h->root < 0 ? -ENOENT : open_in_tmp(h), rc = fd < 0 ? fd : check(fd, h);

	if (fd >= 0 && rc)
		close(fd);
	return rc ? rc : opener_read_regular(fd);
}

int opener_direct_perf_map(void *ctx, pid_t pid)
{
	struct perf_map_home home;
	int rc = perf_map_home(&home, pid);

	rc = rc ? rc : perf_map_open(&home);
	perf_map_leave(&home);
	return rc;
}
