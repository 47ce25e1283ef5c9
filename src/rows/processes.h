/* SPDX-License-Identifier: Apache-2.0 */
/* Which process a thread belongs to, as samples and records of tasks say it. */
#ifndef ROWS_PROCESSES_H
#define ROWS_PROCESSES_H

#include "perfevent.h"

#include <stdbool.h>
#include <sys/types.h>

/* Zeroed is empty. */
struct processes {
	struct thread_process *all;
	bool recorded;           /* set before the first question: /proc says nothing of these */
};

void processes_set(struct processes *p, pid_t tid, pid_t pid);
/* A record of a fork or a name; others say nothing. */
void processes_take(struct processes *p, const struct pev_record *rec);
/* The thread itself where nobody knows. */
pid_t processes_of(struct processes *p, pid_t tid);
void processes_free(struct processes *p);
#endif
