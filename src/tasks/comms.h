/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tasks by tid, remembered beyond their exit. */
#ifndef TASKS_COMMS_H
#define TASKS_COMMS_H

#include <stddef.h>
#include <sys/types.h>

struct comms;

struct comms *comms_new(void);
void comms_free(struct comms *c);
/* The task is called `comm` from now on. */
void comms_set(struct comms *c, pid_t tid, const char *comm, size_t len);
/* Remembers the processes that live now. */
void comms_snapshot(struct comms *c);
/* Its name; asks /proc if it is not known. "<...>" for one that is gone unknown;
 * tid 0 is "swapper". Valid until the next call. */
const char *comms_get(struct comms *c, pid_t tid);
#endif
