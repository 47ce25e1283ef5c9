/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/processes.h"

#include "base/hash.h"
#include "base/procstatus.h"

#include <stdlib.h>

enum { MAX_THREADS = 1 << 20 };

struct thread_process {
	pid_t tid, pid;
	UT_hash_handle hh;
};

static struct thread_process *learn(struct processes *p, pid_t tid, pid_t pid)
{
	struct thread_process *t = NULL;

	if (HASH_COUNT(p->all) < MAX_THREADS)
		t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = tid;
	t->pid = pid;
	HASH_ADD(hh, p->all, tid, sizeof(t->tid), t);
	return HASH_KEPT(t);
}

static struct thread_process *find(struct processes *p, pid_t tid)
{
	struct thread_process *t;

	HASH_FIND(hh, p->all, &tid, sizeof(tid), t);
	return t;
}

pid_t processes_of(struct processes *p, pid_t tid)
{
	struct thread_process *t = find(p, tid);

	if (!t && !p->recorded) {
		long pid = procstatus_of(tid, "\nTgid:");

		t = learn(p, tid, pid > 0 ? (pid_t)pid : tid);   /* the thread may have ended */
	}
	return t ? t->pid : tid;
}

void processes_set(struct processes *p, pid_t tid, pid_t pid)
{
	struct thread_process *t = find(p, tid);

	if (t)
		t->pid = pid;
	else
		learn(p, tid, pid);
}

void processes_take(struct processes *p, const struct pev_record *rec)
{
	if (rec->type == PERF_RECORD_FORK)
		processes_set(p, (pid_t)rec->task.tid, (pid_t)rec->task.pid);
	else if (rec->type == PERF_RECORD_COMM)
		processes_set(p, (pid_t)rec->comm.tid, (pid_t)rec->comm.pid);
}

void processes_free(struct processes *p)
{
	HASH_FREE(p->all);
}
