/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups that are watched, and which processes are in them or below them now. */
#ifndef KEEPER_CGROUPS_H
#define KEEPER_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cgroups {
	char mount[256];         /* of their hierarchy */
	bool unified;            /* it is that of version 2 */
	struct cgroup {
		dev_t dev;
		ino_t ino;
	} *v;
	size_t n;
};

/* The group whose folder is open, below c->mount. 0 or -errno. */
int cgroups_add(struct cgroups *c, int folder);
void cgroups_free(struct cgroups *c);
bool cgroups_have(const struct cgroups *c, pid_t pid);
#endif
