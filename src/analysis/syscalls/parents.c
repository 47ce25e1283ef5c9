/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/parents.h"

#include "base/hash.h"
#include "base/procstatus.h"
#include "tasks/threads.h"

#include <string.h>

/* When there are more, it begins anew. */
enum { MAX_PROCESSES = 1 << 16 };

struct parent {
	pid_t pid, parent;
	UT_hash_handle hh;
};

static struct parent *find(const struct parents *p, pid_t pid)
{
	struct parent *one = NULL;

	if (p->all)
		HASH_FIND(hh, p->all, &pid, sizeof(pid), one);
	return one;
}

static void set(struct parents *p, pid_t pid, pid_t parent)
{
	struct parent *one = find(p, pid);

	if (!one) {
		if (HASH_COUNT(p->all) >= MAX_PROCESSES)
			parents_free(p);
		one = calloc(1, sizeof(*one));
		if (!one)
			return;
		one->pid = pid;
		HASH_ADD(hh, p->all, pid, sizeof(one->pid), one);
		one = HASH_KEPT(one);
	}
	if (one)
		one->parent = parent;
}

void parents_take(struct parents *p, const struct pev_record *rec)
{
	if (rec->type == PERF_RECORD_FORK && rec->task.pid != rec->task.ppid)
		set(p, (pid_t)rec->task.pid, (pid_t)rec->task.ppid);
}

/* 0: it has ended, or has no parent here. */
static pid_t read_parent(pid_t pid)
{
	const long parent = procstatus_of(pid, "\nPPid:");

	return parent > 0 ? (pid_t)parent : 0;
}

pid_t parents_of(struct parents *p, pid_t pid)
{
	const struct parent *one = find(p, pid);
	pid_t parent;

	if (one)
		return one->parent;
	if (p->recorded || pid <= 0)
		return 0;
	parent = read_parent(pid);
	if (parent)
		set(p, pid, parent);
	return parent;
}

static void take_process(void *ctx, pid_t pid)
{
	parents_of(ctx, pid);
}

void parents_read_all(struct parents *p)
{
	if (!p->recorded)
		threads_each_process(take_process, p);
}

void parents_free(struct parents *p)
{
	HASH_FREE(p->all);
	p->all = NULL;
}
