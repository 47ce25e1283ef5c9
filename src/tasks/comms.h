/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tasks by tid. A name is kept for TASKS_GRACE_NS after the task's exit. */
#ifndef TASKS_COMMS_H
#define TASKS_COMMS_H

#include "base/opener.h"
#include "perfevent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct comms;

/* Bytes of a name with its NUL. The kernel's names need 16; recordings made by other programs may
 * have longer ones. */
enum { COMMS_NAME = 64 };

/* The opener outlives it. */
struct comms *comms_new(const struct opener *opener);
void comms_free(struct comms *c);
/* The name of the task is `comm` from now on. */
void comms_set(struct comms *c, pid_t tid, const char *comm, size_t len);
/* The task ended at that time (ns of the perf clock). */
void comms_exit(struct comms *c, pid_t tid, uint64_t time);
/* Takes a COMM, FORK or EXIT record; others have no effect. */
void comms_take(struct comms *c, const struct pev_record *rec);
/* Reads the names of all running threads from /proc. */
void comms_snapshot(struct comms *c);
/* The task's name, read from /proc if it is not known; "<...>" if the task has already exited,
 * "<outside>" if it is outside of the PID namespace (pidmap_is_outer()). tid 0 is "swapper". Valid until the next call. */
const char *comms_get(struct comms *c, pid_t tid);
/* Whether a result of comms_get() says that the name is not known. */
bool comms_is_unknown(const char *name);
/* A number that is another one for each task that had this tid, as far as records say that it began; else 0. */
uint32_t comms_life(const struct comms *c, pid_t tid);
/* A number that grows whenever a name may have changed. */
uint64_t comms_changes(const struct comms *c);
/* Number of names kept. */
size_t comms_count(const struct comms *c);
#endif
