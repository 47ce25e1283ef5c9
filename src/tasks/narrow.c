/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/narrow.h"

#include "base/hash.h"

struct narrow_process {
	uint32_t pid;
	UT_hash_handle hh;
};

static struct narrow_process *find(const struct narrow *n, uint32_t pid)
{
	struct narrow_process *p;

	HASH_FIND(hh, n->all, &pid, sizeof(pid), p);
	return p;
}

static void forget(struct narrow *n, uint32_t pid)
{
	struct narrow_process *p = find(n, pid);

	if (!p)
		return;
	HASH_DEL(n->all, p);
	free(p);
}

static void add(struct narrow *n, uint32_t pid)
{
	struct narrow_process *p = find(n, pid) ? NULL : calloc(1, sizeof(*p));

	if (!p)
		return;
	p->pid = pid;
	HASH_ADD(hh, n->all, pid, sizeof(p->pid), p);
	HASH_KEPT(p);
}

void narrow_take(struct narrow *n, const struct pev_record *rec)
{
	if (rec->type == PERF_RECORD_COMM && rec->misc & PERF_RECORD_MISC_COMM_EXEC) {
		forget(n, rec->comm.pid);
	} else if (rec->type == PERF_RECORD_FORK && rec->task.pid != rec->task.ppid) {
		forget(n, rec->task.pid);
		if (narrow_is(n, (pid_t)rec->task.ppid))
			add(n, rec->task.pid);
	} else if ((rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2) && !strcmp(rec->mmap.filename, "[vdso]") &&
		   !(rec->mmap.addr >> 32)) {
		add(n, rec->mmap.pid);
	}
}

bool narrow_is(const struct narrow *n, pid_t pid)
{
	return find(n, (uint32_t)pid);
}

void narrow_free(struct narrow *n)
{
	HASH_FREE(n->all);
}
