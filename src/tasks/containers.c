/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/containers.h"

#include "base/nearest.h"
#include "base/room.h"
#include "tasks/cgrouptree.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ------------------------------------------------------------------------------ */

/*
 * Names of containers, from the files in which their managers keep them. Only files of root or of this user are read:
 * whoever can write them is trusted with more than a name.
 */

enum { MAX_BYTES = 4 << 20 };

/* A descriptor; -1: there is none that may be read. */
static int open_trusted(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && (!st->st_uid || st->st_uid == geteuid()) && st->st_size <= MAX_BYTES)
		return fd;
	close(fd);
	return -1;
}

/* NULL: there is none that may be read. */
static json_object *read_json(const char *path)
{
	struct stat st;
	int fd = open_trusted(path, &st);
	json_object *root = fd < 0 ? NULL : json_object_from_fd(fd);

	if (fd >= 0)
		close(fd);
	return root;
}

static const char *text_of(json_object *o, const char *key)
{
	json_object *v = NULL;

	return json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, key, &v) &&
	       json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

/* ---- Docker: a file for each container ----------------------------------------------------- */

static void ask_docker(struct container *c)
{
	char path[PATH_MAX];
	json_object *root;
	const char *name;

	snprintf(path, sizeof(path), "/var/lib/docker/containers/%s/config.v2.json", c->id);
	root = read_json(path);
	name = text_of(root, "Name");
	if (name)
		snprintf(c->name, sizeof(c->name), "%s", name + (*name == '/'));
	json_object_put(root);
}

/* ---- podman: a list of all ------------------------------------------------------------------- */

static json_object *read_list(struct container_list *l, const char *path)
{
	struct stat st;
	int fd = open_trusted(path, &st);

	if (fd >= 0 && l->root && l->ino == st.st_ino && l->written.tv_sec == st.st_mtim.tv_sec &&
	    l->written.tv_nsec == st.st_mtim.tv_nsec) {
		close(fd);
		return l->root;
	}
	json_object_put(l->root);
	*l = (struct container_list){ .root = NULL };
	if (fd < 0)
		return NULL;
	*l = (struct container_list){ json_object_from_fd(fd), st.st_mtim, st.st_ino };
	close(fd);
	return l->root;
}

void container_lists_free(struct container_lists *l)
{
	for (size_t i = 0; i < sizeof(l->v) / sizeof(*l->v); i++)
		json_object_put(l->v[i].root);
	*l = (struct container_lists){ 0 };
}

static bool is_this(json_object *entry, struct container *c)
{
	const char *id = text_of(entry, "id");
	json_object *names = NULL;

	if (!id || strcmp(id, c->id) || !json_object_object_get_ex(entry, "names", &names) ||
	    !json_object_is_type(names, json_type_array) || !json_object_array_length(names))
		return false;
	snprintf(c->name, sizeof(c->name), "%s", json_object_get_string(json_object_array_get_idx(names, 0)));
	return true;
}

/* lists: two of them. */
static void ask_podmans(struct container *c, const char *storage, struct container_list *lists)
{
	static const char *const files[] = { "containers.json", "volatile-containers.json" };

	for (size_t i = 0; i < 2 && !*c->name; i++) {
		char path[PATH_MAX];
		json_object *root;

		snprintf(path, sizeof(path), "%s/overlay-containers/%s", storage, files[i]);
		root = read_list(&lists[i], path);
		for (size_t k = 0; json_object_is_type(root, json_type_array) && k < json_object_array_length(root); k++)
			if (is_this(json_object_array_get_idx(root, k), c))
				break;
	}
}

static void ask_podman(struct container *c, struct container_lists *lists)
{
	const struct passwd *user = getpwuid(geteuid());
	char own[PATH_MAX];

	ask_podmans(c, "/var/lib/containers/storage", lists->v);
	if (*c->name || !user || !user->pw_uid)
		return;
	snprintf(own, sizeof(own), "%s/.local/share/containers/storage", user->pw_dir);
	ask_podmans(c, own, lists->v + 2);
}

/* ---- containerd and CRI-O: the runtime's configuration, with annotations ----------------------- */

static void ask_runtime(struct container *c, const char *folder, const char *file)
{
	static const char *const pods[] = { "io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name" };
	static const char *const names[] = { "io.kubernetes.cri.container-name", "io.kubernetes.container.name", "nerdctl/name" };
	const char *pod = NULL, *name = NULL;
	json_object *root, *notes = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", folder, c->id, file);
	root = read_json(path);
	if (json_object_is_type(root, json_type_object))
		json_object_object_get_ex(root, "annotations", &notes);
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods) && !pod; i++)
		pod = text_of(notes, pods[i]);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !name; i++)
		name = text_of(notes, names[i]);
	if (pod || name)
		snprintf(c->name, sizeof(c->name), "%s%s%s", pod ? pod : "", pod && name ? "/" : "", name ? name : "");
	json_object_put(root);
}

void container_look_up(struct container *c, struct container_lists *lists)
{
	static const struct {
		const char *folder, *file;
	} runtimes[] = {
		{ "/run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json" },
		{ "/run/containerd/io.containerd.runtime.v2.task/default", "config.json" },
		{ "/run/containers/storage/overlay-containers", "userdata/config.json" },
	};

	if (*c->name || !*c->id)
		return;
	ask_docker(c);
	if (!*c->name)
		ask_podman(c, lists);
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes) && !*c->name; i++)
		ask_runtime(c, runtimes[i].folder, runtimes[i].file);
}

enum { SHORT_ID = 12, LISTED = 8 };

/* ---- names of control groups ------------------------------------------------------------- */

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The id in docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope, crio-ID.scope, PODUID:cri-containerd:ID, ID. Not the
 * monitor that runs beside a container of podman or CRI-O. */
static bool has_id(const char *cgroup, size_t len, char *id)
{
	const char *from = len < CONTAINER_ID ? NULL : cgroup + len - CONTAINER_ID;

	if (!from || strstr(cgroup, "conmon") || (len > CONTAINER_ID && !strchr("-:", from[-1])))
		return false;
	for (size_t i = 0; i < CONTAINER_ID; i++)
		if (!is_hex(from[i]))
			return false;
	memcpy(id, from, CONTAINER_ID);
	id[CONTAINER_ID] = '\0';
	return true;
}

/* Copies a part of a unit's name, in which systemd writes "-" as "\x2d". */
static void unescape(const char *from, size_t len, char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < size; i++) {
		unsigned int byte;

		if (len - i >= 4 && sscanf(from + i, "\\x%2x", &byte) == 1) {
			to[n++] = (char)byte;
			i += 3;
		} else {
			to[n++] = from[i];
		}
	}
	to[n] = '\0';
}

bool container_of(const char *cgroup, struct container *c)
{
	static const struct {
		const char *head, *tail;
	} named[] = {
		{ "systemd-nspawn@", ".service" }, { "machine-", ".scope" }, { "lxc.payload.", "" },
	};
	size_t len = strlen(cgroup), scope = len > 6 && !strcmp(cgroup + len - 6, ".scope") ? 6 : 0;

	*c = (struct container){ .id = "" };
	if (has_id(cgroup, len - scope, c->id))
		return true;
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		size_t head = strlen(named[i].head), tail = strlen(named[i].tail);

		if (len <= head + tail || strncmp(cgroup, named[i].head, head) || strcmp(cgroup + len - tail, named[i].tail))
			continue;
		unescape(cgroup + head, len - head - tail, c->name, sizeof(c->name));
		return true;
	}
	return false;
}

const char *container_label(const struct container *c, char *buf, size_t size)
{
	if (*c->name)
		snprintf(buf, size, "%s", c->name);
	else
		snprintf(buf, size, "%.*s", SHORT_ID, c->id);
	return buf;
}

/* ---- running containers -------------------------------------------------------------------- */

struct running {
	struct candidate {
		struct container c;
		char *path;
	} *v;
	size_t n;
	struct container_lists lists;
};

static void running_free(struct running *r)
{
	container_lists_free(&r->lists);
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].path);
	free(r->v);
}

static int add(struct running *r, const struct container *c, const char *path)
{
	if (!ROOM_FOR_ONE(r->v, r->n))
		return -ENOMEM;
	r->v[r->n] = (struct candidate){ *c, strdup(path) };
	return r->v[r->n].path ? r->n++, 0 : -ENOMEM;
}

static int take_container(void *ctx, const char *path, const char *name)
{
	struct container c;

	if (!container_of(name, &c))
		return 0;
	container_look_up(&c, &((struct running *)ctx)->lists);
	return add(ctx, &c, path);
}

enum match { MATCH_NAME, MATCH_PART, MATCH_ID, MATCHES };

/* Either part of "pod/container" is enough. */
static bool fits(const struct container *c, const char *wanted, enum match how)
{
	const char *slash = strchr(c->name, '/');
	size_t len = strlen(wanted);

	switch (how) {
	case MATCH_NAME:
		return *c->name && !strcmp(c->name, wanted);
	case MATCH_PART:
		return slash && (!strcmp(slash + 1, wanted) || (!strncmp(c->name, wanted, len) && c->name + len == slash));
	default:
		return !strncmp(c->id, wanted, len);
	}
}

static size_t count(const struct running *r, const char *wanted, enum match how, const struct candidate **one)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (fits(&r->v[i].c, wanted, how)) {
			*one = &r->v[i];
			n++;
		}
	return n;
}

/* Lists those that match; how == MATCHES: all. */
static void list(const struct running *r, const char *wanted, enum match how, char *buf, size_t size)
{
	size_t used = 0, n = 0;

	*buf = '\0';
	for (size_t i = 0; i < r->n && used + 1 < size; i++) {
		const struct container *c = &r->v[i].c;

		if (how != MATCHES && !fits(c, wanted, how))
			continue;
		if (n++ == LISTED) {
			snprintf(buf + used, size - used, ", ...");
			break;
		}
		used += (size_t)snprintf(buf + used, size - used, "%s%s%s%.*s%s", n > 1 ? ", " : "", c->name,
					 *c->name && *c->id ? " (" : "", SHORT_ID, c->id, *c->name && *c->id ? ")" : "");
	}
}

/* A name that is not known: its file is missing, or only root can read it. */
static bool may_be_hidden(const struct running *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!*r->v[i].c.name)
			return geteuid() != 0;
	return false;
}

static int complain_none(const struct running *r, const char *wanted, struct fault *f)
{
	char all[700], label[CONTAINER_NAME];
	struct nearest near;

	if (!r->n)
		return fault_set(f, EXIT_FAILED, "--container %s: no container runs here: no control group has a name that Docker, "
				 "podman, containerd, CRI-O, systemd-nspawn or LXC give; --cgroup PATH takes any", wanted);
	list(r, wanted, MATCHES, all, sizeof(all));
	if (may_be_hidden(r))
		return fault_set(f, EXIT_FAILED, "--container %s: this user sees no container of that name: names of containers are in files "
				 "that only root can read; run as root (sudo), or give the beginning of the id; running containers: %s", wanted, all);
	nearest_begin(&near, wanted);
	for (size_t i = 0; i < r->n; i++)
		nearest_offer(&near, container_label(&r->v[i].c, label, sizeof(label)));
	return fault_set(f, EXIT_FAILED, "--container %s: there is no such container; %s%s%s run: %s", wanted,
			 nearest_get(&near) ? "did you mean " : "", nearest_get(&near) ? nearest_get(&near) : "",
			 nearest_get(&near) ? "? These" : "these", all);
}

static const struct candidate *choose(const struct running *r, const char *wanted, struct fault *f)
{
	const struct candidate *one = NULL;
	char several[700];

	for (enum match how = 0; how < MATCHES && *wanted; how++) {
		size_t n = count(r, wanted, how, &one);

		if (n == 1)
			return one;
		if (!n)
			continue;
		list(r, wanted, how, several, sizeof(several));
		fault_usage(f, "--container %s: %zu containers match: %s; expected the name or more of the id of one", wanted, n,
			    several);
		return NULL;
	}
	complain_none(r, wanted, f);
	return NULL;
}

int containers_find(const char *name, struct container *found, char **path, struct fault *f)
{
	const struct candidate *one = NULL;
	struct running r = { .n = 0 };
	char mount[256];

	if (cgrouptree_mount(mount, sizeof(mount)))
		return fault_set(f, EXIT_FAILED, "--container %s: no cgroup file system is mounted; mount -t cgroup2 none "
				 "/sys/fs/cgroup", name);
	if (cgrouptree_each(mount, take_container, &r))
		fault_set(f, EXIT_FAILED, "out of memory");
	else
		one = choose(&r, name, f);
	*path = one ? strdup(one->path) : NULL;
	if (one)
		*found = one->c;
	running_free(&r);
	return *path ? 0 : one ? fault_set(f, EXIT_FAILED, "out of memory") : -1;
}

/* ---- units ---------------------------------------------------------------------------------- */

struct units {
	const char *wanted;
	struct nearest near;
	char *paths[LISTED];
	size_t n;                       /* may be more than are in `paths` */
};

static int take_unit(void *ctx, const char *path, const char *name)
{
	struct units *u = ctx;

	nearest_offer(&u->near, name);
	if (!strcmp(name, u->wanted) && u->n++ < LISTED) {
		u->paths[u->n - 1] = strdup(path);
		return u->paths[u->n - 1] ? 0 : -ENOMEM;
	}
	return 0;
}

static int complain_no_unit(const struct units *u, const char *mount, struct fault *f)
{
	const char *near = nearest_get(&u->near);

	fault_set(f, EXIT_FAILED, "--cgroups %s: there is no control group of this name below %s; %s%s%sexpected a path below it, such as "
		  "system.slice/ssh.service, or the last part of one; `systemd-cgls` or `find %s -type d` lists them",
		  u->wanted, mount, near ? "did you mean " : "", near ? near : "", near ? "? " : "", mount);
	if (f)
		f->error = ENOENT;
	return -1;
}

static int complain_units(const struct units *u, const char *mount, struct fault *f)
{
	char all[700];
	size_t used = 0;

	if (!u->n)
		return complain_no_unit(u, mount, f);
	for (size_t i = 0; i < u->n && i < LISTED && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", u->paths[i]);
	return fault_usage(f, "--cgroups %s: %zu control groups have this name: %s%s; give the path of one", u->wanted, u->n, all,
			   u->n > LISTED ? ", ..." : "");
}

char *containers_find_unit(const char *mount, const char *name, struct fault *f)
{
	struct units u = { .wanted = name };
	char *path = NULL;

	nearest_begin(&u.near, name);
	if (cgrouptree_each(mount, take_unit, &u))
		fault_set(f, EXIT_FAILED, "out of memory");
	else if (u.n != 1)
		complain_units(&u, mount, f);
	for (size_t i = 0; i < u.n && i < LISTED; i++) {
		if (u.n == 1)
			path = u.paths[i];
		else
			free(u.paths[i]);
	}
	return path;
}
