/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers, by the names of their control groups: those of Docker, podman, containerd, CRI-O, systemd-nspawn and LXC.
 * No daemon is asked: names are in files that these leave on disk.
 */
#ifndef TASKS_CONTAINERS_H
#define TASKS_CONTAINERS_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

enum { CONTAINER_ID = 64, CONTAINER_NAME = 256 };

struct container {
	char id[CONTAINER_ID + 1];      /* hexadecimal; "": it has only a name */
	char name[CONTAINER_NAME];      /* "web", in Kubernetes "pod/container"; "": not known, or not looked up */
};

/* Whether a control group of that name is a container's. Fills in the id, or the name. */
bool container_of(const char *cgroup, struct container *c);
/* podman's lists of all containers, of root and of this user, as they were last read. Zero at first. */
struct container_lists {
	struct container_list {
		struct json_object *root;
		struct timespec written;
		ino_t ino;
	} v[4];
};
void container_lists_free(struct container_lists *l);
/* Looks up the name, if there is none, in files that belong to root or to this user. Lists are read again if they have
 * changed. */
void container_look_up(struct container *c, struct container_lists *lists);
/* The name, or the first 12 digits of the id. */
const char *container_label(const struct container *c, char *buf, size_t size);

/* Finds the running container of that name, or whose id begins so. *path: its control group, below the mount of the
 * hierarchy; to be freed. 0, or -1 with f. */
int containers_find(const char *name, struct container *found, char **path, struct fault *f);
/* Finds the one control group of that name anywhere below the mount: "nginx.service". Its path, to be freed; NULL with f. */
char *containers_find_unit(const char *mount, const char *name, struct fault *f);
#endif
