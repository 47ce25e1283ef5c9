/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tasks by tid, remembered beyond their exit by TASKS_GRACE_NS. */
#ifndef TASKS_COMMS_H
#define TASKS_COMMS_H

#include "base/opener.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct comms;

/* With its end: the kernel's names have 16 bytes, those that other recorders write for the kernel may have more. */
enum { COMMS_NAME = 64 };

/* The opener outlives it. */
struct comms *comms_new(const struct opener *opener);
void comms_free(struct comms *c);
/* The task is called `comm` from now on. */
void comms_set(struct comms *c, pid_t tid, const char *comm, size_t len);
/* The task ended at that time (ns of the perf clock). */
void comms_exit(struct comms *c, pid_t tid, uint64_t time);
/* Remembers the processes that live now, and their threads. */
void comms_snapshot(struct comms *c);
/* Its name; asks /proc if it is not known. "<...>" for one that is gone unknown;
 * tid 0 is "swapper". Valid until the next call. */
const char *comms_get(struct comms *c, pid_t tid);
/* A number that grows whenever somebody's name may have changed. */
uint64_t comms_changes(const struct comms *c);
/* How many it remembers. */
size_t comms_count(const struct comms *c);
#endif
