/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/idcache.h"

#include "base/caller.h"
#include "base/outfile.h"
#include "symbols/elf/elfid.h"
#include "symbols/elf/idfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };

struct paths {
	char folder[PATH_MAX];   /* of the copy */
	char elf[PATH_MAX];      /* the copy */
	char link[PATH_MAX];     /* to that folder, by build id */
	char to[PATH_MAX];       /* what the link says */
	char found[PATH_MAX];    /* the copy, by build id */
};

const char *idcache_folder(void)
{
	uid_t uid;

	return idfile_cache(caller_of_sudo(&uid) ? uid : geteuid());
}

/* Names from other processes: nothing outside of the cache. */
static bool is_plain(const char *path)
{
	return path[0] == '/' && path[1] && !strstr(path, "/../") && !strstr(path, "/./") && !strstr(path, "//");
}

static int find_paths(struct paths *p, const struct idcache_file *file)
{
	const char *cache = idcache_folder();
	char id[2 * ELFID_MAX + 1] = "";

	if (!cache[0])
		return -ENOENT;
	if (file->size < 2 || file->size > ELFID_MAX || !is_plain(file->path))
		return -EINVAL;
	for (size_t i = 0; i < file->size; i++)
		snprintf(id + 2 * i, 3, "%02x", file->id[i]);
	idfile_path(p->link, sizeof(p->link), cache, file->id, file->size, "");
	idfile_path(p->found, sizeof(p->found), cache, file->id, file->size, "/elf");
	if (snprintf(p->to, sizeof(p->to), "../..%s/%s", file->path, id) >= PATH_MAX ||
	    snprintf(p->folder, sizeof(p->folder), "%s%s/%s", cache, file->path, id) >= PATH_MAX ||
	    snprintf(p->elf, sizeof(p->elf), "%s/elf", p->folder) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

static bool is_there(const char *path)
{
	struct caller_rights rights;
	struct stat st;
	bool there;

	caller_begin(&rights);
	there = !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size;
	caller_end(&rights);
	return there;
}

bool idcache_has(const struct idcache_file *file)
{
	struct paths p;

	return !find_paths(&p, file) && is_there(p.found);
}

/* ---- the copy ---------------------------------------------------------------------- */

static int write_all(int to, const char *bytes, size_t n)
{
	for (ssize_t done; n; bytes += done, n -= (size_t)done) {
		done = write(to, bytes, n);
		if (done < 0 && errno != EINTR)
			return -errno;
		done = done < 0 ? 0 : done;
	}
	return 0;
}

/* Where the kernel cannot copy between the two file systems. */
static ssize_t copy_by_hand(int from, off_t at, int to)
{
	char bytes[64 << 10];
	ssize_t n = pread(from, bytes, sizeof(bytes), at);
	int rc = n > 0 ? write_all(to, bytes, (size_t)n) : 0;

	return n < 0 ? -errno : rc ? rc : n;
}

/* The kernel shares blocks of the two files, if it can. */
static ssize_t copy_piece(int from, off_t at, int to)
{
	ssize_t n = copy_file_range(from, &at, to, NULL, PIECE, 0);

	return n > 0 ? n : copy_by_hand(from, at, to);
}

static int copy(int from, off_t size, int to, bool (*is_stopped)(void *ctx), void *ctx)
{
	off_t at = 0;

	while (at < size) {
		ssize_t n = is_stopped(ctx) ? -EINTR : copy_piece(from, at, to);

		if (n == -EINTR && !is_stopped(ctx))
			continue;
		if (n <= 0)
			return n ? (int)n : -ESTALE;
		at += n;
	}
	return 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A library can be written to while it is mapped: its build id may be another one by now. The copy is for the cache's user alone:
 * the file may be in a folder that others cannot enter. */
static int copy_unchanged(const struct idcache_file *file, int to, bool (*is_stopped)(void *ctx), void *ctx)
{
	uint8_t id[ELFID_MAX];
	struct stat before, after;
	int rc;

	if (fstat(file->fd, &before))
		return -errno;
	if (before.st_size > file->most)
		return -ESTALE;
	if (elfid_read(file->fd, id) != file->size || memcmp(id, file->id, file->size))
		return -ESTALE;
	if (fchmod(to, 0600))
		return -errno;
	rc = copy(file->fd, before.st_size, to, is_stopped, ctx);
	return rc ? rc : fstat(file->fd, &after) || !is_same(&before, &after) ? -ESTALE : 0;
}

static int put_copy(const struct idcache_file *file, const char *path, bool (*is_stopped)(void *ctx), void *ctx)
{
	char *temporary;
	int fd = outfile_temporary(path, &temporary), rc;

	if (fd < 0)
		return fd;
	rc = copy_unchanged(file, fd, is_stopped, ctx);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc)
		rc = outfile_rename(temporary, path);
	if (rc)
		outfile_unlink(temporary);
	free(temporary);
	return rc;
}

/* ---- the link ---------------------------------------------------------------------- */

/* A link that leads to no copy any more is replaced. */
static int put_link(const struct paths *p)
{
	char folder[PATH_MAX];
	int rc;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(p->link, '/') - p->link), p->link);
	rc = outfile_folder(folder);
	if (!rc)
		rc = outfile_link(p->link, p->to);
	if (rc != -EEXIST || is_there(p->found))
		return rc == -EEXIST ? 0 : rc;
	rc = outfile_unlink(p->link);
	return rc ? rc : outfile_link(p->link, p->to);
}

int idcache_add(const struct idcache_file *file, bool (*is_stopped)(void *ctx), void *ctx)
{
	struct paths p;
	int rc = find_paths(&p, file);

	if (!rc)
		rc = outfile_folder(p.folder);
	if (!rc && !is_there(p.elf))
		rc = put_copy(file, p.elf, is_stopped, ctx);
	return rc ? rc : put_link(&p);
}
