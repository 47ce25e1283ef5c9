/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/code/codefiles.h"

#include "base/caller.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/note.h"
#include "base/opener.h"
#include "base/outfile.h"
#include "base/room.h"
#include "base/units.h"
#include "events/layout.h"
#include "stream/live/attention.h"
#include "symbols/elf/elfid.h"
#include "symbols/elf/idfile.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Adds files to perf's cache of the user who runs perf-prof (idfile.h), as perf-record(1) does:
 *
 *     ~/.debug/home/me/program/0123456789abcdef…/elf                a copy of /home/me/program
 *     ~/.debug/.build-id/01/23456789abcdef… -> ../../home/me/program/0123456789abcdef…
 *
 * Under sudo this is the cache of the user who ran sudo, written with that user's rights. A copy is complete or not there.
 */

struct idcache_file {
	int fd;                  /* its contents, for reading */
	const char *path;        /* absolute */
	const uint8_t *id;       /* its build id */
	size_t size;             /* bytes of the id */
	off_t most;              /* bytes: larger files have been changed */
};

enum { PIECE = 4 << 20 };

struct paths {
	char folder[PATH_MAX];   /* the copy's folder */
	char elf[PATH_MAX];      /* the copy */
	char link[PATH_MAX];     /* to that folder, by build id */
	char to[PATH_MAX];       /* what the link says */
	char found[PATH_MAX];    /* the copy, by build id */
};

/* The cache's folder, or "". */
static const char *idcache_folder(void)
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

/* Whether the cache has a file with this build id. */
static bool idcache_has(const struct idcache_file *file)
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

/* Copies the file. is_stopped(ctx) is asked between pieces; true ends the copy. 0 or -errno: -ESTALE: the file has been
 * changed; -EINTR: stopped. */
static int idcache_add(const struct idcache_file *file, bool (*is_stopped)(void *ctx), void *ctx)
{
	struct paths p;
	int rc = find_paths(&p, file);

	if (!rc)
		rc = outfile_folder(p.folder);
	if (!rc && !is_there(p.elf))
		rc = put_copy(file, p.elf, is_stopped, ctx);
	return rc ? rc : put_link(&p);
}

/* MAX_FILES: held open; MAX_PROCESSES, MAX_RANGES (of a process): bounds of memory. */
enum { MAX_FILES = 128, MAX_PROCESSES = 8192, MAX_RANGES = 1024 };

/* Bytes copied for a recording. */
#define MAX_FILE (UINT64_C(1) << 30)
#define MAX_ALL (UINT64_C(4) << 30)

/* Recorded samples begin with header, identifier, ip; then pid and tid. */
enum { PID_AT = 24 };

struct codefile {
	uint8_t id[ELFID_MAX];
	size_t id_size;
	int fd;                  /* -1: it is in the cache already, or may not be read */
	char *path;
	bool sampled;
};

struct range {
	uint64_t start, end;
	unsigned int file;       /* index */
};

/* A process, with the mappings of files that are not known to be sampled. */
struct process {
	uint32_t pid;
	size_t n;
	struct range *v;
	uint64_t low, size;      /* from the lowest start to the highest end */
	UT_hash_handle hh;
};

struct codefiles {
	struct codefile v[MAX_FILES];
	unsigned int n, unsampled;
	struct process *processes;
	size_t too_many;         /* files beyond MAX_FILES */
};

struct codefiles *codefiles_new(void)
{
	return calloc(1, sizeof(struct codefiles));
}

void codefiles_free(struct codefiles *c)
{
	struct process *p, *next;

	for (unsigned int i = 0; c && i < c->n; i++) {
		if (c->v[i].fd >= 0)
			close(c->v[i].fd);
		free(c->v[i].path);
	}
	if (c) {
		HASH_ITER(hh, c->processes, p, next) {
			HASH_DEL(c->processes, p);
			free(p->v);
			free(p);
		}
	}
	free(c);
}

/* ---- files ------------------------------------------------------------------------- */

/* What packages install does not change at its path without notice, and debuginfod has it. /usr/local is for programs that are
 * built here. */
static bool is_of_the_system(const char *path)
{
	static const char *const folders[] = {
		"/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/", "/opt/", "/snap/", "/nix/", "/gnu/store/",
		"/var/lib/flatpak/", "/boot/", "/dev/", "/proc/", "/sys/", "/memfd:",
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return strncmp(path, "/usr/local/", 11);
	return false;
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* The mapped file as the user who gets the copy can open it: root's rights, by which it was found, are not that user's. By its
 * path for the process, by its path here, and as the program that the process runs. */
static int open_as_caller(const struct codefile_mapping *m)
{
	struct caller_rights rights;
	int fd = -1;

	caller_begin(&rights);
	for (int way = 0; fd < 0 && way < 3; way++) {
		fd = way == 2 ? opener_mapped(&opener_direct, (pid_t)m->pid, 0, 0) :
		     opener_file(&opener_direct, way ? 0 : (pid_t)m->pid, m->path);
		if (fd >= 0 && !is_same_file(fd, m->fd)) {
			close(fd);
			fd = -1;
		}
	}
	caller_end(&rights);
	return fd < 0 ? -1 : fd;
}

static struct codefile *find_file(struct codefiles *c, const struct codefile_mapping *m)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->v[i].id_size == m->id_size && !memcmp(c->v[i].id, m->id, m->id_size))
			return &c->v[i];
	return NULL;
}

/* NULL: it is not kept. */
static struct codefile *add_file(struct codefiles *c, const struct codefile_mapping *m)
{
	const struct idcache_file file = { .path = m->path, .id = m->id, .size = m->id_size };
	struct codefile *f = &c->v[c->n];
	int fd = c->n < MAX_FILES && !idcache_has(&file) ? open_as_caller(m) : -1;
	char *path = fd >= 0 ? strdup(m->path) : NULL;

	c->too_many += c->n == MAX_FILES;
	if (!path) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	*f = (struct codefile){ .id_size = m->id_size, .fd = fd, .path = path };
	memcpy(f->id, m->id, m->id_size);
	c->n++;
	c->unsampled++;
	return f;
}

static void mark(struct codefiles *c, struct codefile *f)
{
	c->unsampled -= !f->sampled;
	f->sampled = true;
}

/* ---- processes --------------------------------------------------------------------- */

static struct process *process_of(struct codefiles *c, uint32_t pid)
{
	struct process *p;

	HASH_FIND(hh, c->processes, &pid, sizeof(pid), p);
	return p;
}

static struct process *add_process(struct codefiles *c, uint32_t pid)
{
	struct process *p = process_of(c, pid);

	if (p || HASH_COUNT(c->processes) >= MAX_PROCESSES)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	HASH_ADD(hh, c->processes, pid, sizeof(pid), p);
	return HASH_KEPT(p);
}

static void set_span(struct process *p)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < p->n; i++) {
		low = p->v[i].start < low ? p->v[i].start : low;
		high = p->v[i].end > high ? p->v[i].end : high;
	}
	p->low = low;
	p->size = p->n ? high - low : 0;
}

static bool has_range(const struct process *p, const struct range *r)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].start == r->start && p->v[i].file == r->file)
			return true;
	return false;
}

/* Without room, the file counts as sampled. */
static void add_range(struct codefiles *c, uint32_t pid, struct range r)
{
	struct process *p = add_process(c, pid);

	if (p && has_range(p, &r))
		return;
	if (!p || p->n >= MAX_RANGES || !ROOM_FOR_ONE(p->v, p->n)) {
		mark(c, &c->v[r.file]);
		return;
	}
	p->v[p->n++] = r;
	set_span(p);
}

void codefiles_saw(struct codefiles *c, const struct codefile_mapping *m)
{
	struct codefile *f;

	if (!c || !m->id_size || m->id_size > ELFID_MAX || !m->len || m->addr + m->len < m->addr || is_of_the_system(m->path))
		return;
	f = find_file(c, m);
	if (!f && m->fd >= 0)
		f = add_file(c, m);
	if (f && !f->sampled)
		add_range(c, m->pid, (struct range){ m->addr, m->addr + m->len, (unsigned int)(f - c->v) });
}

void codefiles_forked(struct codefiles *c, uint32_t pid, uint32_t ppid)
{
	const struct process *parent = c && codefiles_any(c) ? process_of(c, ppid) : NULL;

	for (size_t i = 0; parent && i < parent->n; i++)
		if (!c->v[parent->v[i].file].sampled)
			add_range(c, pid, parent->v[i]);
}

/* ---- samples ----------------------------------------------------------------------- */

bool codefiles_any(const struct codefiles *c)
{
	return c && c->unsampled;
}

static void mark_at(struct codefiles *c, const struct process *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n; i++)
		if (addr - p->v[i].start < p->v[i].end - p->v[i].start)
			mark(c, &c->v[p->v[i].file]);
}

/* Other processes may have shown that files are sampled. */
static void drop_sampled(const struct codefiles *c, struct process *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (!c->v[p->v[i].file].sampled)
			p->v[n++] = p->v[i];
	if (n == p->n)
		return;
	p->n = n;
	set_span(p);
}

void codefiles_sampled(struct codefiles *c, const struct perf_event_header *rec)
{
	struct process *p = rec->size >= PID_AT + 8 ? process_of(c, layout_u32(rec, PID_AT)) : NULL;
	const uint64_t *words = (const void *)rec;
	unsigned int before = c->unsampled;

	if (!p || !p->n)
		return;
	drop_sampled(c, p);
	for (size_t i = 0; i < rec->size / 8u && p->n; i++)
		if (__builtin_expect(words[i] - p->low < p->size, 0))
			mark_at(c, p, words[i]);
	if (c->unsampled != before)
		drop_sampled(c, p);
}

/* ---- copies ------------------------------------------------------------------------ */

struct keeping {
	const struct attention *attn;
	int verbose;
	uint64_t bytes;          /* copied */
	size_t kept, missing;
	char first[256], why[128];   /* of those that are missing */
};

static bool is_stopped(void *ctx)
{
	const struct keeping *k = ctx;

	return k->attn && attention_pending(k->attn) & ATTN_STOP;
}

static void miss(struct keeping *k, const char *path, const char *why)
{
	if (k->missing++)
		return;
	escape_terminal(path, strlen(path), k->first, sizeof(k->first));
	snprintf(k->why, sizeof(k->why), "%s", why);
}

/* The cache, or the nearest folder above it that exists. */
static uint64_t free_bytes(void)
{
	char path[PATH_MAX];
	struct statvfs fs;

	snprintf(path, sizeof(path), "%s", idcache_folder());
	while (*path && statvfs(path, &fs)) {
		char *slash = strrchr(path, '/');

		slash[slash == path && path[1]] = '\0';   /* "/x" becomes "/", and that "" */
	}
	return *path ? (uint64_t)fs.f_bavail * fs.f_frsize : UINT64_MAX;
}

/* Why the file is not copied, or NULL. */
static const char *too_large(const struct keeping *k, uint64_t size)
{
	return size > MAX_FILE ? "it is larger than 1 GiB" :
	       size > MAX_ALL - k->bytes ? "the files of one recording would take more than 4 GiB" :
	       size > free_bytes() / 2 ? "it would take more than half of the free space" : NULL;
}

static const char *reason(int error)
{
	return error == -ESTALE ? "it was changed while it was recorded" :
	       error == -EINTR ? "a signal ended the copy" : strerror(-error);
}

static void keep(struct keeping *k, const struct codefile *f)
{
	struct idcache_file file = { f->fd, f->path, f->id, f->id_size, 0 };
	struct stat st;
	const char *why;
	int rc;

	if (fstat(f->fd, &st) || idcache_has(&file))
		return;
	file.most = st.st_size;
	why = too_large(k, (uint64_t)st.st_size);
	rc = why ? 0 : idcache_add(&file, is_stopped, k);
	if (why || rc) {
		miss(k, f->path, why ? why : reason(rc));
		return;
	}
	k->kept++;
	k->bytes += (uint64_t)st.st_size;
}

static void tell(const struct keeping *k)
{
	char more[64] = "", size[32];

	if (k->missing > 1)
		snprintf(more, sizeof(more), " and %zu other file%s", k->missing - 1, units_plural(k->missing - 1));
	if (k->missing)
		note(k->verbose, "%s%s: not kept for reports after a rebuild: %s", k->first, more, k->why);
	if (k->kept && k->verbose > 0)
		note(k->verbose, "%zu sampled file%s (%s) kept in %s for reports after a rebuild", k->kept, units_plural(k->kept),
		     units_bytes_text(k->bytes, size, sizeof(size)), idcache_folder());
}

void codefiles_keep(struct codefiles *c, const struct attention *attn, int verbose)
{
	struct keeping k = { .attn = attn, .verbose = verbose };

	if (!c)
		return;
	if (!idcache_folder()[0]) {
		note(verbose > 0 ? verbose : -1, "no sampled file is kept for reports after a rebuild: the user has no home folder");
		return;
	}
	for (unsigned int i = 0; i < c->n; i++)
		if (c->v[i].sampled)
			keep(&k, &c->v[i]);
	if (c->too_many)
		miss(&k, "files beyond the first 128", "perf-prof holds no more files open");
	tell(&k);
}
