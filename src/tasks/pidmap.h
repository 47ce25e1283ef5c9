/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Task ids in two PID namespaces:
 *
 *  outer   initial namespace: fields of tracepoints (common_pid, prev_pid, child_pid, ...)
 *  inner   namespace in which the event was opened: sample_id of samples, COMM/FORK/EXIT records;
 *          these are the ids that users see
 *
 * A sample of a tracepoint has both ids of its task, which makes them a pair. An id without a pair
 * stays an outer one, marked by a bit that no id has, so that it never equals an inner id.
 */
#ifndef TASKS_PIDMAP_H
#define TASKS_PIDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* PID_MAX_LIMIT is 1 << 22. */
#define PIDMAP_OUTER (1 << 30)

struct pidmap;

/* apart: the namespaces are known to differ. If false, they count as one until a sample shows a
 * difference (recordings). NULL: out of memory. */
struct pidmap *pidmap_new(bool apart);
void pidmap_free(struct pidmap *m);
/* Both ids belong to one task. inner 0: the task is outside of the inner namespace. */
void pidmap_pair(struct pidmap *m, pid_t outer, pid_t inner);
/* The task of a sample that has both ids: the id for users. inner 0: outside; -1: it is exiting. */
pid_t pidmap_sample(struct pidmap *m, pid_t outer, pid_t inner);
/* The task that a field names: the id for users, as pidmap_sample(). */
pid_t pidmap_task(struct pidmap *m, pid_t outer);
/* The task has ended; its id may be reused. */
void pidmap_forget(struct pidmap *m, pid_t outer);
/* A FORK record has both ids inner; the fork tracepoint's sample that follows has the child's outer id. */
void pidmap_born(struct pidmap *m, pid_t parent, pid_t child);
void pidmap_pair_born(struct pidmap *m, pid_t parent, pid_t outer_child);
/* Number of outer ids looked up that had no pair. */
size_t pidmap_unpaired(const struct pidmap *m);

/* A task outside of the inner namespace: its outer id is known, or (PIDMAP_OUTER alone) not even that. */
static inline bool pidmap_is_outer(pid_t id)
{
	return id > 0 && id & PIDMAP_OUTER;
}

/* Whether there is a number to print: not for PIDMAP_OUTER alone. */
static inline bool pidmap_has_number(pid_t id)
{
	return id != PIDMAP_OUTER;
}

/* The number to print. */
static inline pid_t pidmap_shown(pid_t id)
{
	return id > 0 ? id & ~PIDMAP_OUTER : id;
}
#endif
