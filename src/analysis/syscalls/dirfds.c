/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/dirfds.h"

#include "base/room.h"

#include <limits.h>
#include <string.h>

/* The oldest of a process with more are forgotten; if all have more, it begins anew. */
enum { MAX_OF_PROCESS = 256, MAX_ALL = 1 << 18 };

/* Processes share it after a fork. */
struct shared_path {
	unsigned int users;
	char text[];
};

struct dirfd {
	int fd;
	uint64_t read;              /* perf clock: when /proc had it; 0: it follows from calls */
	struct shared_path *path;
};

struct dirfds_process {
	pid_t pid;
	struct dirfd *v;            /* the oldest first */
	size_t n;
};

/* ---- one process ------------------------------------------------------------------------ */

static struct dirfds_process *find(const struct dirfds *d, pid_t pid)
{
	return groups_find(&d->all, &pid, sizeof(pid));
}

static struct dirfd *find_fd(const struct dirfds_process *p, int fd)
{
	for (size_t i = 0; p && i < p->n; i++)
		if (p->v[i].fd == fd)
			return &p->v[i];
	return NULL;
}

static void unuse(struct shared_path *path)
{
	if (!--path->users)
		free(path);
}

static void drop_fd(struct dirfds *d, struct dirfds_process *p, struct dirfd *one)
{
	unuse(one->path);
	p->n--;
	d->n--;
	memmove(one, one + 1, (size_t)(p->v + p->n - one) * sizeof(*one));
}

static void drop(struct dirfds *d, struct dirfds_process *p)
{
	while (p->n)
		drop_fd(d, p, &p->v[p->n - 1]);
	free(p->v);
	groups_drop(&d->all, p);
}

static struct dirfd *add(struct dirfds *d, pid_t pid, int fd, struct shared_path *path, uint64_t read)
{
	struct dirfds_process *p;

	path->users++;   /* it may be that of a descriptor that is dropped */
	if (d->n >= MAX_ALL)
		dirfds_forget(d);
	p = groups_get(&d->all, &pid, sizeof(pid), sizeof(*p), UINT32_MAX);
	if (p && p->n == MAX_OF_PROCESS)
		drop_fd(d, p, &p->v[0]);
	if (!p || !ROOM_FOR_ONE(p->v, p->n)) {
		unuse(path);
		return NULL;
	}
	d->n++;
	p->v[p->n] = (struct dirfd){ fd, read, path };
	return &p->v[p->n++];
}

static struct dirfd *add_text(struct dirfds *d, pid_t pid, int fd, const char *text, uint64_t read)
{
	const size_t size = strlen(text) + 1;
	struct shared_path *path = malloc(sizeof(*path) + size);
	struct dirfd *one;

	if (!path)
		return NULL;
	path->users = 1;
	memcpy(path->text, text, size);
	one = add(d, pid, fd, path, read);
	unuse(path);
	return one;
}

/* ---- calls ------------------------------------------------------------------------------ */

/* Drops what the number was before. False: that was read after this call. */
static bool begins(struct dirfds *d, pid_t pid, int fd, uint64_t time)
{
	struct dirfds_process *p = find(d, pid);
	struct dirfd *one = find_fd(p, fd);

	if (one && one->read > time)
		return false;
	if (one)
		drop_fd(d, p, one);
	return true;
}

void dirfds_open(struct dirfds *d, pid_t pid, int fd, const char *path, uint64_t time)
{
	if (begins(d, pid, fd, time) && path)
		add_text(d, pid, fd, path, 0);
}

void dirfds_copy(struct dirfds *d, pid_t pid, int from, int to, uint64_t time)
{
	struct dirfd *one;

	if (from == to || !begins(d, pid, to, time))
		return;
	one = find_fd(find(d, pid), from);   /* one that was dropped was before it, perhaps */
	if (one)
		add(d, pid, to, one->path, 0);
}

void dirfds_close(struct dirfds *d, pid_t pid, unsigned int first, unsigned int last, uint64_t time)
{
	struct dirfds_process *p = find(d, pid);

	for (size_t i = p ? p->n : 0; i--;)
		if ((unsigned int)p->v[i].fd >= first && (unsigned int)p->v[i].fd <= last && p->v[i].read <= time)
			drop_fd(d, p, &p->v[i]);
	if (p && !p->n)
		drop(d, p);
}

const char *dirfds_path(struct dirfds *d, struct folders *f, pid_t pid, int fd)
{
	struct dirfd *one = find_fd(find(d, pid), fd);
	char path[PATH_MAX];
	uint64_t read;

	if (!one && fd >= 0 && folders_look(f, pid, fd, path, &read))
		one = add_text(d, pid, fd, path, read);
	return one ? one->path->text : NULL;
}

/* ---- processes -------------------------------------------------------------------------- */

static void inherit(struct dirfds *d, const struct pev_task *fork)
{
	struct dirfds_process *child = find(d, (pid_t)fork->pid);
	const struct dirfds_process *parent;

	if (child)
		drop(d, child);
	for (size_t i = 0; (parent = find(d, (pid_t)fork->ppid)) && i < parent->n; i++)
		add(d, (pid_t)fork->pid, parent->v[i].fd, parent->v[i].path, 0);
}

void dirfds_take(struct dirfds *d, const struct pev_record *rec)
{
	struct dirfds_process *p;

	if (rec->type == PERF_RECORD_FORK && rec->task.pid != rec->task.ppid)
		inherit(d, &rec->task);
	else if (rec->type == PERF_RECORD_EXIT && rec->task.pid == rec->task.tid && (p = find(d, (pid_t)rec->task.pid)))
		drop(d, p);
}

void dirfds_forget(struct dirfds *d)
{
	for (struct dirfds_process *p = groups_first(&d->all); p; p = groups_next(p))
		drop(d, p);
	groups_free(&d->all);
}
