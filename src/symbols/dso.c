/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dso.h"

#include "symbols/vdso.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 1024, MAX_UNUSED = 2048 };

#define MAX_FILE (4ull << 30)

enum dso_state { DSO_UNREAD, DSO_READ, DSO_NAMELESS };

struct dso {
	struct dso *next;            /* of the bucket */
	struct dso *newer, *older;   /* by last use */
	struct dso_id id;
	uint64_t serial;
	unsigned int refs;
	pid_t pid;                   /* who mapped it last */
	enum dso_state state;
	struct symfile *file;        /* while DSO_READ */
	struct timespec seen;        /* CLOCK_REALTIME when it was first heard of */
	struct timespec mtime;       /* of the file that was read */
	char name[];
};

struct dsos {
	const struct opener *opener;
	size_t max_bytes, bytes;
	struct dso *buckets[BUCKETS];
	struct dso *newest, *oldest;
	size_t unused;               /* without a reference */
	uint64_t serials;
	struct vdso vdso;
};

struct dsos *dsos_new(const struct opener *opener, size_t max_bytes)
{
	struct dsos *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->opener = opener;
	d->max_bytes = max_bytes;
	vdso_find(&d->vdso);
	return d;
}

/* ---- by last use ---------------------------------------------------------- */

static void unlink_use(struct dsos *d, struct dso *dso)
{
	*(dso->newer ? &dso->newer->older : &d->newest) = dso->older;
	*(dso->older ? &dso->older->newer : &d->oldest) = dso->newer;
}

static void link_newest(struct dsos *d, struct dso *dso)
{
	dso->newer = NULL;
	dso->older = d->newest;
	*(d->newest ? &d->newest->newer : &d->oldest) = dso;
	d->newest = dso;
}

static void touch(struct dsos *d, struct dso *dso)
{
	if (d->newest == dso)
		return;
	unlink_use(d, dso);
	link_newest(d, dso);
}

static void forget_file(struct dsos *d, struct dso *dso)
{
	if (dso->file)
		d->bytes -= symfile_bytes(dso->file);
	symfile_free(dso->file);
	dso->file = NULL;
	dso->state = DSO_UNREAD;
}

static void keep_bound(struct dsos *d)
{
	for (struct dso *dso = d->oldest; dso && d->bytes > d->max_bytes; dso = dso->newer)
		if (dso->file && dso != d->newest)
			forget_file(d, dso);
}

/* ---- table of them -------------------------------------------------------- */

static uint32_t hash_of(const char *name, const struct dso_id *id)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	for (size_t i = 0; i < id->build_id_size; i++)
		h = (h ^ id->build_id[i]) * 0x100000001b3ull;
	h = (h ^ id->ino) * 0x100000001b3ull;
	return (uint32_t)(h >> 32 ^ h) % BUCKETS;
}

static bool same_id(const struct dso_id *a, const struct dso_id *b)
{
	if (a->build_id_size || b->build_id_size)
		return a->build_id_size == b->build_id_size &&
		       !memcmp(a->build_id, b->build_id, a->build_id_size);
	return a->has_inode == b->has_inode && a->maj == b->maj && a->min == b->min &&
	       a->ino == b->ino && a->has_generation == b->has_generation &&
	       a->generation == b->generation;
}

static void unlink_dso(struct dsos *d, struct dso *dso)
{
	struct dso **at = &d->buckets[hash_of(dso->name, &dso->id)];

	while (*at && *at != dso)
		at = &(*at)->next;
	if (*at)
		*at = dso->next;
}

static void drop(struct dsos *d, struct dso *dso)
{
	unlink_dso(d, dso);
	unlink_use(d, dso);
	forget_file(d, dso);
	free(dso);
}

void dsos_free(struct dsos *d)
{
	if (!d)
		return;
	while (d->newest)
		drop(d, d->newest);
	free(d);
}

static void drop_unused(struct dsos *d)
{
	struct dso *dso = d->oldest, *newer;

	for (; dso && d->unused > MAX_UNUSED / 2; dso = newer) {
		newer = dso->newer;
		if (dso->refs)
			continue;
		drop(d, dso);
		d->unused--;
	}
}

static struct dso *add(struct dsos *d, const char *name, const struct dso_id *id)
{
	size_t len = strlen(name);
	struct dso *dso = calloc(1, sizeof(*dso) + len + 1);
	struct dso **bucket = &d->buckets[hash_of(name, id)];

	if (!dso)
		return NULL;
	memcpy(dso->name, name, len + 1);
	dso->id = *id;
	dso->serial = ++d->serials;
	clock_gettime(CLOCK_REALTIME, &dso->seen);
	dso->next = *bucket;
	*bucket = dso;
	link_newest(d, dso);
	d->unused++;
	return dso;
}

static struct dso *find(struct dsos *d, const char *name, const struct dso_id *id)
{
	struct dso *dso = d->buckets[hash_of(name, id)];

	while (dso && (!same_id(&dso->id, id) || strcmp(dso->name, name)))
		dso = dso->next;
	return dso;
}

struct dso *dso_ref(struct dso *dso)
{
	dso->refs++;
	return dso;
}

static struct dso *take(struct dsos *d, struct dso *dso)
{
	if (dso && !dso->refs++)
		d->unused--;
	if (dso)
		touch(d, dso);
	return dso;
}

void dso_put(struct dsos *d, struct dso *dso)
{
	if (--dso->refs || ++d->unused <= MAX_UNUSED)
		return;
	drop_unused(d);
}

/* ---- what lies at the path now -------------------------------------------- */

static bool later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* File systems of their own make (btrfs, overlayfs) tell stat(2) another device than
 * mappings bear: both have no major number then. */
static bool same_device(const struct dso_id *id, dev_t dev)
{
	return (id->maj == major(dev) && id->min == minor(dev)) || (!id->maj && !major(dev));
}

static bool same_generation(const struct dso_id *id, int fd)
{
	int generation = 0;

	if (!id->has_generation || ioctl(fd, FS_IOC_GETVERSION, &generation))
		return true;     /* not all file systems tell */
	return (uint32_t)generation == (uint32_t)id->generation;
}

/* Whether the open file is the one that was mapped, as far as its inode can say. */
static bool is_mapped_inode(const struct dso *dso, int fd, const struct stat *st)
{
	const struct dso_id *id = &dso->id;

	return id->has_inode && st->st_ino == id->ino && same_device(id, st->st_dev) &&
	       same_generation(id, fd) && !later(&st->st_mtim, &dso->seen);
}

static bool has_build_id(const struct symfile *f, const struct dso_id *id)
{
	uint8_t have[BUILD_ID_MAX];

	return symfile_build_id(f, have) == id->build_id_size &&
	       !memcmp(have, id->build_id, id->build_id_size);
}

static struct symfile *read_fd(struct dso *dso, int fd)
{
	struct symfile *file;
	struct stat st;

	if (fstat(fd, &st) || st.st_size <= 0 || (uint64_t)st.st_size > MAX_FILE)
		return NULL;
	if (!dso->id.build_id_size && !is_mapped_inode(dso, fd, &st))
		return NULL;
	file = symfile_open(fd);
	if (file && dso->id.build_id_size && !has_build_id(file, &dso->id)) {
		symfile_free(file);
		file = NULL;
	}
	dso->mtime = st.st_mtim;
	return file;
}

static struct symfile *read_as(struct dsos *d, struct dso *dso, pid_t pid)
{
	struct symfile *file = NULL;
	int fd = opener_file(d->opener, pid, dso->name);

	if (fd < 0)
		return NULL;
	file = read_fd(dso, fd);
	close(fd);
	return file;
}

static bool is_path(const char *name)
{
	return name[0] == '/' && name[1] != '/';
}

/* As the process sees the path or, when it is gone, as we do. */
static void read_file(struct dsos *d, struct dso *dso)
{
	dso->state = DSO_NAMELESS;
	if (dso->id.has_inode && !dso->id.ino)
		return;
	if (is_path(dso->name)) {
		dso->file = dso->pid ? read_as(d, dso, dso->pid) : NULL;
		if (!dso->file)
			dso->file = read_as(d, dso, 0);
	} else if (!strcmp(dso->name, VDSO_NAME) && !dso->id.build_id_size) {
		dso->file = vdso_read(&d->vdso);
	}
	if (!dso->file)
		return;
	dso->state = DSO_READ;
	d->bytes += symfile_bytes(dso->file);
	touch(d, dso);
	keep_bound(d);
}

/* Written to since its symbols were read: what is mapped now is another file, though by
 * its inode it is the same. */
static bool is_rewritten(struct dsos *d, const struct dso *dso, pid_t pid)
{
	struct stat st;
	int fd;
	bool rewritten;

	if (dso->state != DSO_READ || dso->id.build_id_size || !is_path(dso->name))
		return false;
	fd = opener_file(d->opener, pid, dso->name);
	if (fd < 0)
		return false;
	rewritten = !fstat(fd, &st) && st.st_ino == dso->id.ino && later(&st.st_mtim, &dso->mtime);
	close(fd);
	return rewritten;
}

/* ---- asking --------------------------------------------------------------- */

struct dso *dso_get(struct dsos *d, const char *path, const struct dso_id *id, pid_t pid)
{
	struct dso *dso = find(d, path, id);

	if (dso && is_rewritten(d, dso, pid)) {
		dso->serial = ++d->serials;
		forget_file(d, dso);
		clock_gettime(CLOCK_REALTIME, &dso->seen);
	}
	if (!dso)
		dso = add(d, path, id);
	if (!dso)
		return NULL;
	dso->pid = pid;
	if (dso->state == DSO_NAMELESS)
		dso->state = DSO_UNREAD;   /* by this process's eyes it may be there */
	return take(d, dso);
}

struct dso *dso_get_vdso(struct dsos *d, uint64_t start, uint64_t len)
{
	/* inode 1 stands for one that is ours, 0 for another, such as that of 32 bits */
	struct dso_id id = { .has_inode = true, .ino = vdso_is_same(&d->vdso, start, len) };
	struct dso *dso = find(d, VDSO_NAME, &id);

	return take(d, dso ? dso : add(d, VDSO_NAME, &id));
}

const char *dso_name(const struct dso *dso)
{
	return dso->name;
}

uint64_t dso_serial(const struct dso *dso)
{
	return dso->serial;
}

bool dso_find(struct dsos *d, struct dso *dso, uint64_t offset, const char **name, uint64_t *into)
{
	if (dso->state == DSO_UNREAD)
		read_file(d, dso);
	if (dso->state != DSO_READ)
		return false;
	touch(d, dso);
	return symfile_find(dso->file, offset, name, into);
}

size_t dsos_bytes(const struct dsos *d)
{
	return d->bytes;
}
