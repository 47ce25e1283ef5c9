/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of tasks in two PID namespaces. Fields of tracepoints (common_pid, prev_pid, child_pid, ...)
 * have the kernel's own ids, those of the initial namespace: outer ones. What a sample says of its
 * task, and records of tasks, have those of the namespace in which the event was opened: inner
 * ones, in which users think. A sample of a tracepoint has both, and so pairs them.
 *
 * An id that is not paired stays an outer one, with a bit that no id has: it equals no inner id.
 */
#ifndef TASKS_PIDMAP_H
#define TASKS_PIDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* PID_MAX_LIMIT is 1 << 22. */
#define PIDMAP_OUTER (1 << 30)

struct pidmap;

/* apart: the namespaces are known to be two. Else they are one until a sample shows that they
 * aren't: of recordings. NULL without memory. */
struct pidmap *pidmap_new(bool apart);
void pidmap_free(struct pidmap *m);
/* A task has both ids. inner 0: it is outside of the inner namespace. */
void pidmap_pair(struct pidmap *m, pid_t outer, pid_t inner);
/* A task of which a sample tells both: its id as users know it. inner 0: outside, -1: on its way out. */
pid_t pidmap_sample(struct pidmap *m, pid_t outer, pid_t inner);
/* The same of a task that a field names. */
pid_t pidmap_task(struct pidmap *m, pid_t outer);
/* It ended: the id may come again. */
void pidmap_forget(struct pidmap *m, pid_t outer);
/* A FORK record: both inner; and then the fork's sample, with the child's outer id. */
void pidmap_born(struct pidmap *m, pid_t parent, pid_t child);
void pidmap_pair_born(struct pidmap *m, pid_t parent, pid_t outer_child);
/* How many ids were asked for that no pair was known of. */
size_t pidmap_unpaired(const struct pidmap *m);

/* The number that people see. */
static inline pid_t pidmap_shown(pid_t id)
{
	return id > 0 ? id & ~PIDMAP_OUTER : id;
}
#endif
