/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tasks share a row: each has its own, or those of a process, or those of a name do (--by). Without --by a
 * command says which, and where each has its own, text changes to names when there are too many.
 */
#ifndef ROWS_GROUPING_H
#define ROWS_GROUPING_H

#include "rows/distributions.h"
#include "rows/processes.h"

enum group_by { BY_DEFAULT, BY_TASK, BY_PID, BY_COMM };

/* More tasks than these don't have rows of their own in text, unless --by says so. */
enum { GROUPING_TASKS = 200 };

struct grouping {
	enum group_by by;
	bool automatic;              /* by task until there are more than GROUPING_TASKS */
	bool news;                   /* there are, and nobody has been told */
	struct grouped *tasks;       /* those of this table; while it is automatic */
	struct processes processes;
};

/* Of an option; its field is an enum group_by. 0, or -1 with f. */
int grouping_parse(const char *text, void *field, struct fault *f);
void grouping_free(struct grouping *g);
/* A task of a sample. */
static inline void grouping_see(struct grouping *g, const struct analysis_sample *s)
{
	if (g->by == BY_PID && s->tid > 0 && s->pid > 0)
		processes_set(&g->processes, s->tid, s->pid);
}

/* The first half of a key where a row is a process, which *comm is called then. */
uint64_t grouping_process(struct grouping *g, struct analysis *a, pid_t tid, uint64_t time, const char **comm);
/* The same of any row; *comm is the task's own before. */
static inline uint64_t grouping_key(struct grouping *g, struct analysis *a, pid_t tid, uint64_t time, const char **comm)
{
	return g->by == BY_COMM ? analysis_hash(*comm)
	       : g->by == BY_PID ? grouping_process(g, a, tid, time, comm) : (uint64_t)tid;
}

/* A task has a new row. True: there are too many now, and rows have been put together by name. */
bool grouping_count(struct grouping *g, struct distributions *rows, pid_t tid);
/* The next table begins. */
void grouping_next(struct grouping *g);

/* The first columns of a row, and their cells. */
#define GROUPING_COLUMNS { "comm", TABLE_TEXT }, { "tid", TABLE_INTEGER }
void grouping_put(const struct distribution *d, struct table *t);
/* What the second one is called. */
const char *grouping_id(const struct grouping *g);
#endif
