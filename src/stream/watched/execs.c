/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/watched/execs.h"

#include "base/hash.h"

#include <stdio.h>

enum { MOST_PROCESSES = 1 << 18 };   /* a recording may claim any number */

struct process {
	UT_hash_handle hh;
	uint64_t pid;
	uint64_t exec, map, exit;        /* the latest times; 0: none */
	char name[16];
};

struct execs {
	struct process *all;
	bool lossy;
};

struct execs *execs_new(void)
{
	return calloc(1, sizeof(struct execs));
}

void execs_free(struct execs *e)
{
	struct process *p, *next;

	if (!e)
		return;
	HASH_ITER(hh, e->all, p, next) {
		HASH_DEL(e->all, p);
		free(p);
	}
	free(e);
}

static struct process *find(const struct execs *e, uint64_t pid)
{
	struct process *p;

	HASH_FIND(hh, e->all, &pid, sizeof(pid), p);
	return p;
}

static struct process *process_of(struct execs *e, uint64_t pid)
{
	struct process *p = find(e, pid);

	if (p)
		return p;
	p = HASH_COUNT(e->all) < MOST_PROCESSES ? calloc(1, sizeof(*p)) : NULL;
	if (p) {
		p->pid = pid;
		HASH_ADD(hh, e->all, pid, sizeof(p->pid), p);
		p = HASH_KEPT(p);
	}
	e->lossy |= !p;
	return p;
}

static void later(uint64_t *time, uint64_t now)
{
	if (now > *time)
		*time = now;
}

static bool is_removed(const struct process *p)
{
	return p->exec && p->exit > p->exec && p->map < p->exec;
}

/* Most processes end after they have mapped what they execute. */
static void forget(struct execs *e, struct process *p)
{
	if (p->exit && p->map > p->exec && p->exit > p->map) {
		HASH_DEL(e->all, p);
		free(p);
	}
}

static void see_exec(struct execs *e, const struct pev_record *rec)
{
	struct process *p = process_of(e, rec->comm.pid);

	if (!p || rec->sample_id.time < p->exec)
		return;
	p->exec = rec->sample_id.time;
	snprintf(p->name, sizeof(p->name), "%s", rec->comm.comm ? rec->comm.comm : "");
	forget(e, p);
}

void execs_see(struct execs *e, const struct pev_record *rec)
{
	struct process *p;

	if (!e)
		return;
	if (rec->type == PERF_RECORD_LOST) {
		e->lossy = true;
	} else if (rec->type == PERF_RECORD_COMM && rec->comm.exec) {
		see_exec(e, rec);
	} else if ((rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2) && (p = process_of(e, rec->mmap.pid))) {
		later(&p->map, rec->sample_id.time);
		forget(e, p);
	} else if (rec->type == PERF_RECORD_EXIT && rec->task.pid == rec->task.tid && (p = find(e, rec->task.pid))) {
		later(&p->exit, rec->sample_id.time);
		forget(e, p);
	}
}

size_t execs_removed(const struct execs *e, bool (*skip)(const void *ctx, pid_t pid), const void *ctx, pid_t *pid,
		     const char **name)
{
	size_t n = 0;

	for (const struct process *p = e && !e->lossy ? e->all : NULL; p; p = p->hh.next)
		if (is_removed(p) && !skip(ctx, (pid_t)p->pid) && !n++) {
			*pid = (pid_t)p->pid;
			*name = p->name;
		}
	return n;
}
