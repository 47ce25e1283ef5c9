/* SPDX-License-Identifier: Apache-2.0 */
/* The folders of control groups, in the hierarchy that events use. */
#ifndef TASKS_CGROUPTREE_H
#define TASKS_CGROUPTREE_H

#include <stdbool.h>
#include <stddef.h>

/* Where the hierarchy with the perf_event controller is mounted: v1 if it has its own, else v2. 0 or -ENOENT. */
int cgrouptree_mount(char *buf, size_t size);
/* Calls fn for each folder below `mount`, outer ones first, until it returns something else than 0, which is returned.
 * path: below the mount, with a leading "/"; name: its last part. */
typedef int cgrouptree_fn(void *ctx, const char *path, const char *name);
int cgrouptree_each(const char *mount, cgrouptree_fn *fn, void *ctx);
/* Whether no task is in the group with this folder, nor in one below it; false if that cannot be read. */
bool cgrouptree_is_empty(int folder);
#endif
