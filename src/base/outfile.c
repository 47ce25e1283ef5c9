/* SPDX-License-Identifier: Apache-2.0 */
#include "base/outfile.h"

#include "base/caller.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MAX_LINKS = 40, TRIES = 100 };

/* ---- descriptors ---------------------------------------------------------------------- */

int outfile_descriptor(const char *path)
{
	uint64_t n;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	if (!strncmp(path, "/dev/fd/", 8) && !units_u64(path + 8, &n) && n <= INT16_MAX)
		return (int)n;
	return -1;
}

/* ---- path lookup as root, one name at a time -------------------------------------------------- */

struct way {
	int folder;              /* O_PATH: the folder reached so far */
	char rest[PATH_MAX];     /* the rest of the path */
	char name[NAME_MAX + 1]; /* the first name, taken from the rest */
	unsigned int links;
	bool follow;             /* the last name is resolved, too */
	bool is_magic;           /* the last name is a link of /proc, which only the kernel can follow */
};

static int change_folder(struct way *w, int fd)
{
	if (fd < 0)
		return -errno;
	if (w->folder >= 0)
		close(w->folder);
	w->folder = fd;
	return 0;
}

static int put_rest(struct way *w, const char *path)
{
	size_t n = strlen(path);

	if (!n)
		return -ENOENT;
	if (path[n - 1] == '/')
		return -EISDIR;
	if (n >= sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest, path, n + 1);
	return *path == '/' || w->folder < 0 ?
	       change_folder(w, open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 0;
}

/* 1: it was the last name; 0: it was not. */
static int take_name(struct way *w)
{
	const char *start = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(start, "/");
	bool last = !start[n];

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(w->name, start, n);
	w->name[n] = '\0';
	memmove(w->rest, start + n, strlen(start + n) + 1);
	return last;
}

static bool is_trusted(const struct way *w, const struct stat *link)
{
	struct stat folder;

	return link->st_uid == geteuid() && !fstat(w->folder, &folder) && !(folder.st_mode & (S_ISVTX | S_IWOTH));
}

static bool is_magic(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

static int put_link(struct way *w, int fd)
{
	char text[PATH_MAX], path[2 * PATH_MAX];
	ssize_t n = readlinkat(fd, "", text, sizeof(text));

	if (n < 0 || n == sizeof(text))
		return n < 0 ? -errno : -ENAMETOOLONG;
	snprintf(path, sizeof(path), "%.*s%s", (int)n, text, w->rest);
	return put_rest(w, path);
}

/* 1: the lookup is complete; 0: it goes on. */
static int follow(struct way *w, int fd, const struct stat *link, bool last)
{
	if (last && !w->follow)
		return 1;
	if (!is_trusted(w, link) || ++w->links > MAX_LINKS)
		return -ELOOP;
	if (!is_magic(fd))
		return put_link(w, fd);
	w->is_magic = last;
	return last ? 1 : change_folder(w, openat(w->folder, w->name, O_PATH | O_CLOEXEC));
}

static int step(struct way *w)
{
	int last = take_name(w), fd, rc;
	struct stat st;

	if (last < 0)
		return last;
	fd = openat(w->folder, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return last && errno == ENOENT ? 1 : -errno;
	rc = fstat(fd, &st) ? -errno : 0;
	if (!rc && !last && !S_ISLNK(st.st_mode))
		return change_folder(w, fd);
	if (!rc)
		rc = S_ISLNK(st.st_mode) ? follow(w, fd, &st, last) : 1;
	close(fd);
	return rc;
}

/* Finds the folder of the path's last name. 0 or -errno. */
static int go(struct way *w, const char *path, bool to_the_end)
{
	int rc;

	*w = (struct way){ .folder = -1, .follow = to_the_end };
	rc = put_rest(w, path);
	while (!rc)
		rc = step(w);
	if (rc > 0)
		return 0;
	if (w->folder >= 0)
		close(w->folder);
	return rc;
}

/* ---- operations on a path ------------------------------------------------------------------ */

/* The lookup as root, or the path unchanged for the kernel to resolve. */
static int go_as(struct way *w, const char *path, bool to_the_end, const struct caller_rights *r)
{
	if (!r->changed && !geteuid())
		return go(w, path, to_the_end);
	*w = (struct way){ .folder = AT_FDCWD, .is_magic = true };
	return 0;
}

static void leave(const struct way *w)
{
	if (w->folder >= 0)
		close(w->folder);
}

static const char *name_in(const struct way *w, const char *path)
{
	return w->folder >= 0 ? w->name : path;
}

/* Refuses files that others have put where root writes: they would get the data, or choose by a hard link the file
 * that root overwrites. The kernel refuses the same with fs.protected_regular and fs.protected_hardlinks. */
static int check_owner(const struct way *w, const struct stat *st)
{
	struct stat folder;
	bool open;

	if (w->folder < 0 || w->is_magic || !(S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode)))
		return 0;
	if (fstat(w->folder, &folder))
		return -errno;
	open = folder.st_mode & (S_ISVTX | S_IWOTH);
	if (open && st->st_uid != geteuid())
		return -EEXIST;
	return st->st_nlink > 1 && (open || folder.st_uid != geteuid()) ? -EEXIST : 0;
}

/* A name that does not exist is fine. */
static int check_name(const struct way *w)
{
	struct stat st;

	return w->folder < 0 || fstatat(w->folder, w->name, &st, AT_SYMLINK_NOFOLLOW) ? 0 : check_owner(w, &st);
}

/* Checks the owner before the open, which may wait, and again on the open file before it is emptied. */
static int open_checked(const struct way *w, const char *name, int flags, unsigned int mode)
{
	int rc = flags & O_EXCL ? 0 : check_name(w), fd = rc ? -1 : openat(w->folder, name, flags & ~O_TRUNC, mode);
	struct stat st;

	if (fd < 0)
		return rc ? rc : -errno;
	rc = fstat(fd, &st) ? -errno : check_owner(w, &st);
	if (!rc && flags & O_TRUNC && S_ISREG(st.st_mode) && ftruncate(fd, 0))
		rc = -errno;
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

static int open_it(const struct outfile_order *o, const struct caller_rights *rights)
{
	struct way w;
	int rc = go_as(&w, o->path, !(o->flags & O_EXCL), rights);

	if (rc)
		return rc;
	rc = open_checked(&w, name_in(&w, o->path), o->flags | O_WRONLY | O_CLOEXEC | O_NOCTTY | (w.is_magic ? 0 : O_NOFOLLOW),
			  o->mode);
	leave(&w);
	return rc;
}

static int rename_it(const struct outfile_order *o, const struct caller_rights *rights)
{
	struct way a, b;
	int rc = go_as(&a, o->path, false, rights);

	if (rc)
		return rc;
	rc = go_as(&b, o->to, false, rights);
	if (!rc) {
		rc = check_name(&a);
		rc = rc ? rc : check_name(&b);
		if (!rc && renameat(a.folder, name_in(&a, o->path), b.folder, name_in(&b, o->to)))
			rc = -errno;
		leave(&b);
	}
	leave(&a);
	return rc;
}

static int unlink_it(const struct outfile_order *o, const struct caller_rights *rights)
{
	struct way w;
	int rc = go_as(&w, o->path, false, rights);

	if (rc)
		return rc;
	rc = unlinkat(w.folder, name_in(&w, o->path), 0) ? -errno : 0;
	leave(&w);
	return rc;
}

static int make_folder(const struct outfile_order *o, const struct caller_rights *rights)
{
	struct way w;
	int rc = go_as(&w, o->path, false, rights);

	if (rc)
		return rc;
	rc = mkdirat(w.folder, name_in(&w, o->path), o->mode) && errno != EEXIST ? -errno : 0;
	leave(&w);
	return rc;
}

static int make_link(const struct outfile_order *o, const struct caller_rights *rights)
{
	struct way w;
	int rc = go_as(&w, o->path, false, rights);

	if (rc)
		return rc;
	rc = symlinkat(o->to, w.folder, name_in(&w, o->path)) ? -errno : 0;
	leave(&w);
	return rc;
}

static int look_at(const struct outfile_order *o, const struct caller_rights *rights)
{
	struct stat st;

	return stat(o->path, &st) || S_ISREG(st.st_mode) ? 0 : (int)(st.st_mode & S_IFMT);
}

/* ---- orders --------------------------------------------------------------------------------- */

/* NULL: this process carries out its orders. */
static outfile_hand *hand;
static void *hand_ctx;

void outfile_through(outfile_hand *other, void *ctx)
{
	hand = other;
	hand_ctx = ctx;
}

int outfile_do(const struct outfile_order *o)
{
	static int (*const does[])(const struct outfile_order *, const struct caller_rights *) = {
		[OUTFILE_OPEN] = open_it, [OUTFILE_RENAME] = rename_it, [OUTFILE_UNLINK] = unlink_it,
		[OUTFILE_KIND] = look_at, [OUTFILE_FOLDER] = make_folder, [OUTFILE_LINK] = make_link,
	};
	struct caller_rights rights;
	int rc;

	caller_begin(&rights);
	rc = does[o->op](o, &rights);
	caller_end(&rights);
	return rc;
}

static int order(const struct outfile_order *o)
{
	return hand ? hand(hand_ctx, o) : outfile_do(o);
}

int outfile_open(const char *path, int flags, unsigned int mode)
{
	int fd = outfile_descriptor(path);

	if (fd < 0)
		return order(&(struct outfile_order){ .op = OUTFILE_OPEN, .path = path, .flags = flags, .mode = mode });
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

FILE *outfile_stream(const char *path)
{
	int fd = outfile_open(path, O_CREAT | O_TRUNC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd < 0)
		errno = -fd;
	else if (!out)
		close(fd);
	return out;
}

int outfile_temporary(const char *path, char **name)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	uint32_t number;
	int fd;

	for (int i = 0; i < TRIES; i++) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number) ||
		    asprintf(name, "%.*s.%.200s.%08x", (int)(last - path), path, last, number) < 0)
			return -ENOMEM;
		fd = outfile_open(*name, O_CREAT | O_EXCL, 0666);
		if (fd >= 0)
			return fd;
		free(*name);
		if (fd != -EEXIST)
			return fd;
	}
	return -EEXIST;
}

int outfile_rename(const char *from, const char *to)
{
	return order(&(struct outfile_order){ .op = OUTFILE_RENAME, .path = from, .to = to });
}

int outfile_unlink(const char *path)
{
	return order(&(struct outfile_order){ .op = OUTFILE_UNLINK, .path = path });
}

int outfile_folder(const char *path)
{
	const struct outfile_order o = { .op = OUTFILE_FOLDER, .path = path, .mode = 0777 };
	const char *slash = strrchr(path, '/');
	int rc = order(&o);
	char *parent;

	if (rc != -ENOENT || !slash || slash == path)
		return rc;
	parent = strndup(path, (size_t)(slash - path));
	rc = parent ? outfile_folder(parent) : -ENOMEM;
	free(parent);
	return rc ? rc : order(&o);
}

int outfile_link(const char *path, const char *to)
{
	return order(&(struct outfile_order){ .op = OUTFILE_LINK, .path = path, .to = to });
}

mode_t outfile_kind(const char *path)
{
	int kind = outfile_descriptor(path) >= 0 ? S_IFIFO :
		   order(&(struct outfile_order){ .op = OUTFILE_KIND, .path = path });

	return kind < 0 ? 0 : (mode_t)kind;
}

int outfile_refused(const char *option, const char *path, int error, struct fault *f)
{
	uid_t uid;

	if ((error == -EACCES || error == -EPERM) && caller_ran_sudo(&uid))
		return fault_set(f, EXIT_FAILED, "%s %s: %s for user %u, who ran sudo and would "
				 "own the file; name a file that this user may write", option,
				 path, strerror(-error), (unsigned int)uid);
	if (error == -ENXIO)
		return fault_set(f, EXIT_FAILED, "%s %s: no program reads this FIFO; start its reader first", option, path);
	if (error == -ELOOP && !geteuid())
		return fault_set(f, EXIT_FAILED, "%s %s: root follows no symbolic link that belongs to another user, "
				 "or is in a folder where other users can create one; name the file that it leads to",
				 option, path);
	if (error == -EEXIST && (!geteuid() || hand))
		return fault_set(f, EXIT_FAILED, "%s %s: root does not write to this file, because it "
				 "belongs to another user, or is a hard link, in a folder where other users can create "
				 "files; remove it, or name another file", option, path);
	return fault_set(f, EXIT_FAILED, "%s %s: %s", option, path, strerror(-error));
}
