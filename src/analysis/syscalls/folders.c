/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/folders.h"

#include "analysis/syscalls/dirfds.h"
#include "base/hash.h"
#include "base/textfile.h"
#include "tasks/threads.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { MAX_KEPT = 1 << 18 };

struct keptfolder {
	struct keptfolder_key key;
	uint64_t read;
	char path[];
};

bool keptfolders_line(const struct keptfolder_key *key, uint64_t read, const char *path, char buf[KEPTFOLDER_LINE])
{
	const int n = snprintf(buf, KEPTFOLDER_LINE, "%d %" PRIu64 " %" PRIu64 " %d %s", (int)key->pid, key->at, read, key->fd, path);

	return n > 0 && n < KEPTFOLDER_LINE && !strchr(path, '\n');
}

static struct keptfolder *kept_find(const struct keptfolders *k, const struct keptfolder_key *key)
{
	return groups_find(&k->all, key, sizeof(*key));
}

static void kept_add(struct keptfolders *k, const struct keptfolder_key *key, uint64_t read, const char *path, size_t len)
{
	struct keptfolder *one;

	if (len >= PATH_MAX || kept_find(k, key) || k->all.n >= MAX_KEPT)
		return;
	one = groups_add(&k->all, key, sizeof(*key), 0, sizeof(*one) + len + 1);
	if (!one)
		return;
	one->read = read;
	memcpy(one->path, path, len);
}

/* A decimal number and the space behind it. */
static bool take_number(const char **at, const char *end, int64_t *value)
{
	const bool minus = *at < end && **at == '-';
	const char *p = *at + minus;
	uint64_t v = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v) || v > INT64_MAX)
			return false;
	if (p == *at + minus || p == end || *p != ' ')
		return false;
	*value = minus ? -(int64_t)v : (int64_t)v;
	*at = p + 1;
	return true;
}

static void take_line(struct keptfolders *k, const char *at, const char *end)
{
	int64_t pid, time, read, fd;

	if (!take_number(&at, end, &pid) || !take_number(&at, end, &time) || !take_number(&at, end, &read) ||
	    !take_number(&at, end, &fd))
		return;
	if (pid > 0 && pid <= INT_MAX && time >= 0 && read >= 0 && fd >= KEPTFOLDER_CWD && fd <= INT_MAX && at < end && *at == '/')
		kept_add(k, &(struct keptfolder_key){ (pid_t)pid, (int)fd, (uint64_t)time }, (uint64_t)read, at, (size_t)(end - at));
}

void keptfolders_take(struct keptfolders *k, const char *text, size_t size)
{
	const char *const end = text + size, *nl;

	for (; text < end && (nl = memchr(text, '\n', (size_t)(end - text))); text = nl + 1)
		take_line(k, text, nl);
}

const char *keptfolders_find(const struct keptfolders *k, const struct keptfolder_key *key, uint64_t *read)
{
	const struct keptfolder *one = kept_find(k, key);

	if (!one)
		return NULL;
	*read = one->read;
	return one->path;
}

static void keptfolders_each_first(const struct keptfolders *k, keptfolders_taker *take, void *ctx)
{
	for (const struct keptfolder *one = groups_first(&k->all); one; one = groups_next(one))
		if (!one->key.at && one->key.fd == KEPTFOLDER_CWD)
			take(ctx, one->key.pid, one->path, one->read);
}

void keptfolders_free(struct keptfolders *k)
{
	groups_free(&k->all);
}

static void folderlinks_free(struct folderlinks *l);

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

/* MAX_LINKS: when there are more, it begins anew. FRESH_NS: a link may lead elsewhere later. */
enum { MAX_LINKS = 1 << 14, FRESH_NS = 1000000000 };

struct folderlink {
	uint64_t at;
	char *real;              /* NULL: not known, or the same path */
	UT_hash_handle hh;
	char folder[];
};

/* Whether what /proc says is an absolute path that is valid here. */
/* One that was deleted has no path, and one that cannot be reached from our root none here. */
static bool folderlinks_is_path(const char *text)
{
	static const char deleted[] = " (deleted)";
	const size_t n = strlen(text), end = strlen(deleted);

	return *text == '/' && (n < end || strcmp(text + n - end, deleted));
}

/* /proc/self leads to ourselves, not to the process that has called. */
static bool is_of_us(const char *path)
{
	char own[32];
	const int len = snprintf(own, sizeof(own), "/proc/%d", (int)getpid());

	return !strncmp(path, own, (size_t)len) && (path[len] == '/' || !path[len]);
}

/* Puts the path that a folder or file has behind all links, from the kernel, which has just looked it up for a process. False: it is not
 * known. */
/* O_PATH opens nothing, and with RESOLVE_CACHED (5.12) no file system is asked, which might mount something, or not answer. */
static bool folderlinks_look(const char *folder, char real[PATH_MAX])
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS };
	const int fd = (int)syscall(SYS_openat2, AT_FDCWD, folder, &how, sizeof(how));
	size_t n;

	if (fd < 0)
		return false;
	n = textfile_link(real, PATH_MAX, "/proc/self/fd/%d", fd);
	close(fd);
	return n < PATH_MAX - 1 && folderlinks_is_path(real) && !is_of_us(real);
}

static void folderlinks_drop(struct folderlinks *l, struct folderlink *one)
{
	HASH_DEL(l->all, one);
	free(one->real);
	free(one);
}

static struct folderlink *add(struct folderlinks *l, const char *folder, size_t len)
{
	struct folderlink *one;

	if (HASH_COUNT(l->all) >= MAX_LINKS)
		folderlinks_free(l);
	one = calloc(1, sizeof(*one) + len + 1);
	if (!one)
		return NULL;
	memcpy(one->folder, folder, len);
	HASH_ADD_KEYPTR(hh, l->all, one->folder, len, one);
	return HASH_KEPT(one);
}

static void look(struct folderlink *one, uint64_t now)
{
	char real[PATH_MAX];

	free(one->real);
	one->real = folderlinks_look(one->folder, real) && strcmp(real, one->folder) ? strdup(real) : NULL;
	one->at = now;
}

/* Where the first `len` bytes of a path lead, looked up once a second: now is any clock in ns. NULL: it is not known, or the same
 * path. Valid until the next call. */
static const char *folderlinks_find(struct folderlinks *l, const char *folder, size_t len, uint64_t now)
{
	struct folderlink *one = NULL;

	if (l->all)
		HASH_FIND(hh, l->all, folder, len, one);
	if (one && now - one->at < FRESH_NS)
		return one->real;
	if (!one)
		one = add(l, folder, len);
	if (!one)
		return NULL;
	look(one, now);
	return one->real;
}

static void folderlinks_free(struct folderlinks *l)
{
	struct folderlink *one, *next;

	HASH_ITER(hh, l->all, one, next)
		folderlinks_drop(l, one);
}

/* When there are more, it begins anew. */
enum { MAX_PROCESSES = 1 << 16 };

struct folder {
	pid_t pid;
	uint64_t read;           /* perf clock: when /proc had it; 0: it was inherited, or follows from a call */
	bool elsewhere;          /* the process has another root, or other mounts */
	bool first;              /* it was read before all events, and is not kept yet */
	bool split;              /* tasks of the process have different ones, or others change it: it is not known */
	bool shares;             /* the next child has the same one, whoever changes it */
	char *path;              /* absolute */
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

bool folders_join(const char *folder, const char *path, char *buf, size_t size)
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
	return groups_find(&f->all, &pid, sizeof(pid));
}

static void drop(struct folders *f, struct folder *one)
{
	free(one->path);
	groups_drop(&f->all, one);
}

static struct folder *set(struct folders *f, pid_t pid, const char *path, uint64_t read, bool elsewhere)
{
	struct folder *one = find(f, pid);
	char *copy = strdup(path);   /* it may be that of the folder that is dropped */

	if (one)
		drop(f, one);
	if (f->all.n >= MAX_PROCESSES)
		folders_forget(f);
	one = copy ? groups_get(&f->all, &pid, sizeof(pid), sizeof(*one), MAX_PROCESSES) : NULL;
	if (one)
		*one = (struct folder){ .pid = pid, .read = read, .elsewhere = elsewhere, .path = copy };
	else
		free(copy);
	return one;
}

/* pid 0: this process. False: it is not there, or cut. */
static bool read_link(pid_t pid, const char *name, char path[PATH_MAX])
{
	const size_t n = pid ? textfile_link(path, PATH_MAX, "/proc/%d/%s", (int)pid, name) : textfile_link(path, PATH_MAX, "/proc/self/%s", name);

	return n && n < PATH_MAX - 1;
}

/* Under another root, calls name other paths than /proc. */
static bool has_our_root(pid_t pid)
{
	char root[PATH_MAX];

	return read_link(pid, "root", root) && !strcmp(root, "/");
}

static bool has_our_mounts(pid_t pid)
{
	char ours[PATH_MAX], theirs[PATH_MAX];

	return read_link(0, "ns/mnt", ours) && read_link(pid, "ns/mnt", theirs) && !strcmp(ours, theirs);
}

/* At *read it was that one: it is the same before and after. */
static bool read_now(struct folders *f, pid_t pid, int fd, char path[PATH_MAX], uint64_t *read)
{
	enum { TRIES = 3 };
	char link[32] = "cwd", again[PATH_MAX];

	if (fd != KEPTFOLDER_CWD)
		snprintf(link, sizeof(link), "fd/%d", fd);
	if (pid <= 0 || !has_our_root(pid))
		return false;
	for (int i = 0; i < TRIES && read_link(pid, link, path); i++) {
		*read = f->now(f->ctx);
		if (read_link(pid, link, again) && !strcmp(path, again))
			return folderlinks_is_path(path);
	}
	return false;
}

static void keep(struct folders *f, pid_t pid, int fd, const char *path, uint64_t read, uint64_t at)
{
	const struct keptfolder_key key = { pid, fd, at };
	char line[KEPTFOLDER_LINE];

	if (f->keep && keptfolders_line(&key, read, path, line))
		f->keep(f->ctx, line);
}

static bool find_kept(const struct folders *f, pid_t pid, int fd, char path[PATH_MAX], uint64_t *read)
{
	const char *kept = keptfolders_find(&f->kept, &(struct keptfolder_key){ pid, fd, f->at }, read);

	snprintf(path, PATH_MAX, "%s", kept ? kept : "");
	return kept;
}

bool folders_look(struct folders *f, pid_t pid, int fd, char path[PATH_MAX], uint64_t *read)
{
	if (!f->now)
		return find_kept(f, pid, fd, path, read);
	if (!read_now(f, pid, fd, path, read))
		return false;
	keep(f, pid, fd, path, *read, f->at);
	return true;
}

static struct folder *set_read(struct folders *f, pid_t pid, const char *path, uint64_t read)
{
	return set(f, pid, path, read, f->now && !has_our_mounts(pid));
}

static struct folder *read_one(struct folders *f, pid_t pid)
{
	char path[PATH_MAX];
	uint64_t read;

	return folders_look(f, pid, KEPTFOLDER_CWD, path, &read) ? set_read(f, pid, path, read) : NULL;
}

/* Only folders that are used are kept. */
static struct folder *known(struct folders *f, pid_t pid)
{
	struct folder *one = find(f, pid);

	if (one && one->first) {
		keep(f, pid, KEPTFOLDER_CWD, one->path, one->read, 0);
		one->first = false;
	}
	return one;
}

static struct folder *of(struct folders *f, pid_t pid)
{
	struct folder *one = known(f, pid);

	return one ? one : read_one(f, pid);
}

static void take_process(void *ctx, pid_t pid)
{
	struct folders *f = ctx;
	char path[PATH_MAX];
	struct folder *one;
	uint64_t read;

	if (f->all.n >= MAX_PROCESSES || pid <= 0 || !read_now(f, pid, KEPTFOLDER_CWD, path, &read))
		return;
	one = set_read(f, pid, path, read);
	if (one)
		one->first = true;
}

static void take_kept(void *ctx, pid_t pid, const char *path, uint64_t read)
{
	set(ctx, pid, path, read, false);
}

void folders_read_all(struct folders *f)
{
	if (f->now)
		threads_each_process(take_process, f);
	else
		keptfolders_each_first(&f->kept, take_kept, f);
}

/* A folder of the child that was read after the fork is newer than the parent's. */
static void inherit(struct folders *f, const struct pev_task *fork)
{
	struct folder *child = known(f, (pid_t)fork->pid), *parent;

	if (child && child->read > fork->time)
		return;
	if (child)
		drop(f, child);
	parent = of(f, (pid_t)fork->ppid);
	if (!parent || (parent->split && !parent->shares))   /* if it is not known which one, it is read when it is used */
		return;
	child = set(f, (pid_t)fork->pid, parent->path, 0, parent->elsewhere);
	parent = find(f, (pid_t)fork->ppid);
	if (child && parent) {
		child->split = parent->shares;
		parent->shares = false;
	}
}

void folders_take(struct folders *f, const struct pev_record *rec)
{
	struct folder *one;

	if (rec->type == PERF_RECORD_FORK && rec->task.pid != rec->task.ppid)
		inherit(f, &rec->task);
	else if (rec->type == PERF_RECORD_EXIT && rec->task.pid == rec->task.tid && (one = find(f, (pid_t)rec->task.pid)))
		drop(f, one);
}

static bool put_real(const char *folder, const char *path, char real[PATH_MAX])
{
	char given[2 * PATH_MAX];

	snprintf(given, sizeof(given), "%s/%s", *path == '/' ? "" : folder, path);
	return folderlinks_look(given, real);
}

/* Puts where the process is after the call: behind the links that its path has. */
static void put_changed(struct folders *f, pid_t pid, const char *folder, const char *path, bool elsewhere, char whole[PATH_MAX])
{
	char real[PATH_MAX];
	uint64_t read;

	if (!f->now && find_kept(f, pid, KEPTFOLDER_CWD, real, &read)) {
		memcpy(whole, real, PATH_MAX);
	} else if (f->now && !elsewhere && put_real(folder, path, real) && strcmp(whole, real)) {
		keep(f, pid, KEPTFOLDER_CWD, real, 0, f->at);
		memcpy(whole, real, PATH_MAX);
	}
}

void folders_change(struct folders *f, pid_t pid, const char *path, uint64_t time)
{
	struct folder *one = known(f, pid);
	char whole[PATH_MAX];

	if (one && (one->split || one->read > time))
		return;
	if (*path && (one || *path == '/') && folders_join(one ? one->path : "/", path, whole, sizeof(whole))) {
		const bool elsewhere = one ? one->elsewhere : f->now && !(has_our_root(pid) && has_our_mounts(pid));

		put_changed(f, pid, one ? one->path : "/", path, elsewhere, whole);
		set(f, pid, whole, 0, elsewhere);
		return;
	}
	if (one)
		drop(f, one);
	read_one(f, pid);
}

void folders_leave(struct folders *f, pid_t pid)
{
	struct folder *one = find(f, pid);

	if (one)
		one->elsewhere = true;
}

void folders_split(struct folders *f, pid_t pid, bool shares)
{
	struct folder *one = of(f, pid);

	if (!one)
		one = set(f, pid, "/", 0, false);
	if (!one)
		return;
	one->split = true;
	one->shares = shares;
}

bool folders_has_threads(const struct folders *f, pid_t pid)
{
	enum { OF_ONE_THREAD = 3 };
	char tasks[64];
	struct stat st;

	snprintf(tasks, sizeof(tasks), "/proc/%d/task", (int)pid);
	return f->now && !stat(tasks, &st) && st.st_nlink > OF_ONE_THREAD;
}

bool folders_resolve(struct folders *f, pid_t pid, const char *path, char *buf, size_t size)
{
	const struct folder *one = of(f, pid);

	return one && !one->split && folders_join(one->path, path, buf, size);
}

bool folders_follow(struct folders *f, pid_t pid, const char *path, char buf[PATH_MAX])
{
	const char *name = strrchr(path, '/'), *real = NULL;
	const struct folder *one;

	if (!f->now || !name || name == path || !strcmp(name, "/") || !strcmp(name, "/.") || !strcmp(name, "/.."))
		return false;
	one = of(f, pid);
	if (one && !one->elsewhere)
		real = folderlinks_find(&f->links, path, (size_t)(name - path), f->at);
	return real && folders_join(real, name + 1, buf, PATH_MAX);
}

bool folders_follow_end(struct folders *f, pid_t pid, const char *path, char buf[PATH_MAX])
{
	const struct folder *one = f->now ? of(f, pid) : NULL;
	const char *real = one && !one->elsewhere ? folderlinks_find(&f->links, path, strlen(path), f->at) : NULL;

	if (real)
		snprintf(buf, PATH_MAX, "%s", real);
	return real;
}

void folders_forget(struct folders *f)
{
	for (struct folder *one = groups_first(&f->all); one; one = groups_next(one))
		drop(f, one);
	groups_free(&f->all);
}

void folders_free(struct folders *f)
{
	folders_forget(f);
	folderlinks_free(&f->links);
	keptfolders_free(&f->kept);
}
