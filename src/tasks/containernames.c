/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of containers, from the files in which their managers keep them. Only files of root or of this user are read:
 * whoever can write them is trusted with more than a name.
 */
#include "tasks/containers.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
