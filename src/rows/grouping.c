/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/grouping.h"

#include "base/procstatus.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1 << 20 };

struct thread_process {
	pid_t tid, pid;
};

void processes_set(struct processes *p, pid_t tid, pid_t pid)
{
	struct thread_process *t = groups_get(&p->all, &tid, sizeof(tid), sizeof(*t), MAX_THREADS);

	if (t)
		t->pid = pid;
}

pid_t processes_of(struct processes *p, pid_t tid)
{
	const struct thread_process *t = groups_find(&p->all, &tid, sizeof(tid));

	long pid;

	if (t || p->recorded)
		return t ? t->pid : tid;
	pid = procstatus_of(tid, "\nTgid:");
	pid = pid > 0 ? pid : tid;   /* the thread may have ended */
	processes_set(p, tid, (pid_t)pid);
	return (pid_t)pid;
}

void processes_take(struct processes *p, const struct pev_record *rec)
{
	if (rec->type == PERF_RECORD_FORK)
		processes_set(p, (pid_t)rec->task.tid, (pid_t)rec->task.pid);
	else if (rec->type == PERF_RECORD_COMM)
		processes_set(p, (pid_t)rec->comm.tid, (pid_t)rec->comm.pid);
}

int grouping_parse(const char *text, void *field, struct fault *f)
{
	static const char *const words[] = { [BY_TASK] = "task", [BY_PID] = "pid", [BY_COMM] = "comm" };

	for (size_t i = BY_TASK; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(text, words[i])) {
			*(enum group_by *)field = (enum group_by)i;
			return 0;
		}
	return fault_usage(f, "--by %s: expected task (a row for each thread), pid (for each process) or comm (for each "
			   "name)", text);
}

void grouping_next(struct grouping *g)
{
	groups_free(&g->tasks);
	g->news = false;
}

void grouping_free(struct grouping *g)
{
	grouping_next(g);
	groups_free(&g->processes.all);
}

uint64_t grouping_process(struct grouping *g, struct analysis *a, pid_t tid, const char **comm)
{
	pid_t pid = processes_of(&g->processes, tid);

	*comm = analysis_comm(a, pid);
	return (uint64_t)pid;
}

/* ---- too many tasks ------------------------------------------------------------------ */

static void add_up(struct distributions *all, const struct distribution *from)
{
	const uint64_t key[DISTRIBUTION_KEYS] = { analysis_hash(from->name), from->key[1], from->key[2], from->key[3] };
	bool fresh;
	struct distribution *to = distributions_get(all, key, &fresh);

	if (!to)
		return;
	memcpy(to->name, from->name, sizeof(to->name));
	histogram_merge(&to->durations, &from->durations);
	distribution_add_failed(to, from);
}

void grouping_merge(struct distributions *rows)
{
	struct distributions by_name = { .refused = rows->refused };

	for (const struct distribution *d = groups_first(&rows->rows); d; d = groups_next(d))
		add_up(&by_name, d);
	distributions_clear(rows);
	*rows = by_name;
}

void grouping_count(struct grouping *g, struct distributions *rows, pid_t tid)
{
	if (!g->automatic)
		return;
	groups_get(&g->tasks, &tid, sizeof(tid), sizeof(tid), UINT32_MAX);
	if (g->tasks.n <= GROUPING_TASKS)
		return;
	grouping_next(g);
	g->automatic = false;
	g->by = BY_COMM;
	g->news = true;
	grouping_merge(rows);
}

/* ---- columns ------------------------------------------------------------------------- */

void grouping_columns(const struct grouping *g, struct table_column columns[GROUPING_COLUMNS])
{
	columns[0] = (struct table_column){ "comm", TABLE_TEXT };
	columns[1] = (struct table_column){
		g->by == BY_PID ? "pid" : "tid", TABLE_INTEGER, .where = g->by == BY_COMM ? TABLE_ONLY_JSON : TABLE_EVERYWHERE,
	};
}

void grouping_put(const struct distribution *d, struct table *t)
{
	table_text(t, d->name);
	if (d->key[0] >> 32)     /* a name's hash, no tid */
		table_none(t);
	else
		table_task(t, (pid_t)d->key[0]);
}
