/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/cgroupnames.h"

#include "base/hash.h"
#include "base/now.h"
#include "base/textfile.h"
#include "tasks/cgrouptree.h"
#include "tasks/containers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_GROUPS = 1 << 16 };

static const char unknown[] = "[unknown]";

struct label {
	UT_hash_handle hh;
	char text[];
};

struct group {
	uint64_t id;
	const char *label;
	UT_hash_handle hh;
};

struct cgroupnames {
	struct group *groups;
	struct label *labels;
	struct container_lists lists;
	bool live;
	char mount[256];
	int folder;                     /* the mount, open; -1: none */
	uint64_t due;                   /* before this time (CLOCK_MONOTONIC, ns) the hierarchy is not walked again */
};

struct cgroupnames *cgroupnames_new(bool live)
{
	struct cgroupnames *c = calloc(1, sizeof(*c));

	if (c) {
		c->live = live;
		c->folder = live && !cgrouptree_mount(c->mount, sizeof(c->mount)) ? open(c->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	}
	return c;
}

void cgroupnames_free(struct cgroupnames *c)
{
	if (!c)
		return;
	HASH_FREE(c->groups);
	HASH_FREE(c->labels);
	container_lists_free(&c->lists);
	close(c->folder);
	free(c);
}

/* The innermost container that the group is or lies in names it: managers make groups within those of containers. */
const char *cgroupnames_label(const char *path, struct container_lists *lists, char *buf, size_t size)
{
	struct container c, found = { .id = "" };
	char part[NAME_MAX + 1];

	for (size_t at = 0, n; path[at]; at += n) {
		at += path[at] == '/';
		n = strcspn(path + at, "/");
		snprintf(part, sizeof(part), "%.*s", (int)n, path + at);
		if (container_of(part, &c))
			found = c;
	}
	if (!*found.id && !*found.name) {
		snprintf(buf, size, "%s", path);
		return buf;
	}
	container_look_up(&found, lists);
	return container_label(&found, buf, size);
}

/* The kept copy of a text; `unknown`: out of memory. */
static const char *keep(struct cgroupnames *c, const char *text)
{
	const size_t len = strlen(text);
	struct label *label = NULL;

	HASH_FIND(hh, c->labels, text, len, label);
	if (label)
		return label->text;
	label = calloc(1, sizeof(*label) + len + 1);
	if (!label)
		return unknown;
	memcpy(label->text, text, len);
	HASH_ADD(hh, c->labels, text, len, label);
	label = HASH_KEPT(label);
	return label ? label->text : unknown;
}

static struct group *group_of(const struct cgroupnames *c, uint64_t id)
{
	struct group *g = NULL;

	HASH_FIND(hh, c->groups, &id, sizeof(id), g);
	return g;
}

static void put(struct cgroupnames *c, uint64_t id, const char *label)
{
	struct group *g = group_of(c, id);

	if (g) {
		g->label = label;
		return;
	}
	g = HASH_COUNT(c->groups) < MAX_GROUPS ? calloc(1, sizeof(*g)) : NULL;
	if (!g)
		return;
	*g = (struct group){ .id = id, .label = label };
	HASH_ADD(hh, c->groups, id, sizeof(id), g);
	if (HASH_LOST(g))
		free(g);
}

void cgroupnames_set(struct cgroupnames *c, uint64_t id, const char *path)
{
	char buf[PATH_MAX];

	put(c, id, keep(c, cgroupnames_label(path, &c->lists, buf, sizeof(buf))));
}

/* ---- the hierarchy ------------------------------------------------------------------------ */

struct walk {
	char mount[256];
	void (*fn)(void *ctx, uint64_t id, const char *path);
	void *ctx;
};

/* The number of a group is that of its folder. */
static int visit(void *ctx, const char *path, const char *name)
{
	const struct walk *w = ctx;
	char folder[PATH_MAX];
	struct stat st;

	(void)name;
	if (snprintf(folder, sizeof(folder), "%s%s", w->mount, path) < (int)sizeof(folder) && !stat(folder, &st))
		w->fn(w->ctx, st.st_ino, *path ? path : "/");
	return 0;
}

void cgroupnames_each(void (*fn)(void *ctx, uint64_t id, const char *path), void *ctx)
{
	struct walk w = { .fn = fn, .ctx = ctx };

	if (cgrouptree_mount(w.mount, sizeof(w.mount)))
		return;
	visit(&w, "", "");
	cgrouptree_each(w.mount, visit, &w);
}

/* ---- unknown ids -------------------------------------------------------------------------- */

/* The kernel's FILEID_KERNFS (linux/exportfs.h); at most ten walks in a second, and a twentieth of the time. */
enum { HANDLE_TYPE = 0xfe, WALK_PAUSE = 100000000, WALK_SHARE = 20 };

/* The id of a group is the file handle of its folder. NULL with errno; ESTALE: there is no such group; others: not known, since this
 * takes Linux 5.5 and CAP_DAC_READ_SEARCH. */
static const char *find_path(const struct cgroupnames *c, uint64_t id, char path[PATH_MAX])
{
	struct {
		struct file_handle head;
		uint64_t id;
	} handle = { { .handle_bytes = sizeof(id), .handle_type = HANDLE_TYPE }, id };
	const int fd = open_by_handle_at(c->folder, &handle.head, O_PATH | O_CLOEXEC);
	const size_t mount = strlen(c->mount);

	if (fd < 0)
		return NULL;
	textfile_link(path, PATH_MAX, "/proc/self/fd/%d", fd);
	close(fd);
	errno = EXDEV;
	return strncmp(path, c->mount, mount) ? NULL : path[mount] ? path + mount : "/";
}

static void keep_new(void *ctx, uint64_t id, const char *path)
{
	if (!group_of(ctx, id))
		cgroupnames_set(ctx, id, path);
}

/* A walk finds all groups at once, so that one serves for many ids: the ring buffers wait meanwhile, and others than this user
 * decide how many groups there are, and how often a new one comes. A group that is gone is not looked for again. */
static void look_up(struct cgroupnames *c, uint64_t id)
{
	const uint64_t begin = now_ns(CLOCK_MONOTONIC);
	char buf[PATH_MAX];
	const char *path = find_path(c, id, buf);

	if (path) {
		cgroupnames_set(c, id, path);
	} else if (errno != ESTALE) {
		if (begin < c->due)
			return;
		cgroupnames_each(keep_new, c);
		c->due = now_ns(CLOCK_MONOTONIC) + WALK_PAUSE + WALK_SHARE * (now_ns(CLOCK_MONOTONIC) - begin);
	}
	if (!group_of(c, id))
		put(c, id, unknown);
}

const char *cgroupnames_get(struct cgroupnames *c, uint64_t id)
{
	const struct group *g = group_of(c, id);

	if (!g && c->live)
		look_up(c, id);
	g = group_of(c, id);
	return g ? g->label : unknown;
}
