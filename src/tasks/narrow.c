/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/narrow.h"

#include "base/hash.h"

struct narrow_process {
	uint32_t pid;
	bool wide;             /* has code above 4 GiB */
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

static void add(struct narrow *n, uint32_t pid, bool wide)
{
	struct narrow_process *p = find(n, pid);

	if (!p && (p = calloc(1, sizeof(*p)))) {
		p->pid = pid;
		HASH_ADD(hh, n->all, pid, sizeof(p->pid), p);
		p = HASH_KEPT(p);
	}
	if (p)
		p->wide |= wide;
}

void narrow_take(struct narrow *n, const struct pev_record *rec)
{
	if (rec->type == PERF_RECORD_COMM && rec->misc & PERF_RECORD_MISC_COMM_EXEC) {
		forget(n, rec->comm.pid);
	} else if (rec->type == PERF_RECORD_FORK && rec->task.pid != rec->task.ppid) {
		forget(n, rec->task.pid);
		if (narrow_is(n, (pid_t)rec->task.ppid))
			add(n, rec->task.pid, false);
	} else if ((rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2) && rec->mmap.pid != UINT32_MAX) {
		add(n, rec->mmap.pid, rec->mmap.addr >> 32);
	}
}

bool narrow_is(const struct narrow *n, pid_t pid)
{
	const struct narrow_process *p = find(n, (uint32_t)pid);

	return p && !p->wide;
}

void narrow_free(struct narrow *n)
{
	HASH_FREE(n->all);
}
