/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of control groups by the ids in samples (PERF_SAMPLE_CGROUP): a container's is what --container calls it, any
 * other's is its path. They come from CGROUP records and, live, from the folders of the hierarchy.
 */
#ifndef TASKS_CGROUPNAMES_H
#define TASKS_CGROUPNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroupnames;
struct container_lists;

/* live: unknown ids are looked up on this machine. NULL: out of memory. */
struct cgroupnames *cgroupnames_new(bool live);
void cgroupnames_free(struct cgroupnames *c);
/* The id belongs to the group with that path. */
void cgroupnames_set(struct cgroupnames *c, uint64_t id, const char *path);
/* Valid as long as c; equal names have equal addresses. "[unknown]": there is no such group. */
const char *cgroupnames_get(struct cgroupnames *c, uint64_t id);
/* Calls fn for each control group of this machine. */
void cgroupnames_each(void (*fn)(void *ctx, uint64_t id, const char *path), void *ctx);
/* What a group with this path is called; lists: of containers.h. Returns buf. */
const char *cgroupnames_label(const char *path, struct container_lists *lists, char *buf, size_t size);
#endif
