/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups that are watched, and whether a process is in one of them, or in a group below one, now. */
#ifndef KEEPER_CGROUPS_H
#define KEEPER_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cgroups {
	char mount[256];         /* where their hierarchy is mounted */
	bool unified;            /* the hierarchy is that of cgroup v2 */
	struct cgroup {
		dev_t dev;
		ino_t ino;
	} *v;
	size_t n;
};

/* Adds the group whose open folder is `folder`, below c->mount. 0 or -errno. */
int cgroups_add(struct cgroups *c, int folder);
void cgroups_free(struct cgroups *c);
bool cgroups_have(const struct cgroups *c, pid_t pid);
#endif
