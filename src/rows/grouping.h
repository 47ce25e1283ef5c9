/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --by: a row for each task, process, or name of tasks. The default depends on the command. If it is a row for each
 * task, text output changes to a row for each name when there are too many tasks.
 */
#ifndef ROWS_GROUPING_H
#define ROWS_GROUPING_H

#include "perfevent.h"
#include "rows/distributions.h"

#include <stdbool.h>
#include <sys/types.h>

/* The process of each thread, from samples, FORK and COMM records, and /proc. */

/* Initialized by zeros. */
struct processes {
	struct groups all;       /* of struct thread_process */
	bool recorded;           /* threads are from a recording: /proc is not read; set before processes_of() */
};

void processes_set(struct processes *p, pid_t tid, pid_t pid);
/* Takes FORK and COMM records; ignores others. */
void processes_take(struct processes *p, const struct pev_record *rec);
/* The thread's process; tid itself if it is not known. */
pid_t processes_of(struct processes *p, pid_t tid);

enum group_by { BY_DEFAULT, BY_TASK, BY_PID, BY_COMM };

/* With more tasks, text output has a row for each name, unless --by is given. */
enum { GROUPING_TASKS = 200 };

struct grouping {
	enum group_by by;
	bool automatic;              /* by task until there are more than GROUPING_TASKS */
	bool news;                   /* there are more: print_counts() reports it */
	struct groups tasks;         /* ids of tasks in this table, if `automatic` */
	struct processes processes;
};

/* For the option --by; its field is an enum group_by. 0, or -1 with f. */
int grouping_parse(const char *text, void *field, struct fault *f);
void grouping_free(struct grouping *g);
/* For --by pid: stores the process of a sample's thread. */
static inline void grouping_see(struct grouping *g, const struct analysis_sample *s)
{
	if (g->by == BY_PID && s->tid > 0 && s->pid > 0)
		processes_set(&g->processes, s->tid, s->pid);
}

/* key[0] of a row for a process: its pid. *comm: the process's name. */
uint64_t grouping_process(struct grouping *g, struct analysis *a, pid_t tid, const char **comm);
/* key[0] of the task's row. *comm: the task's name; with --by pid replaced by the process's. */
static inline uint64_t grouping_key(struct grouping *g, struct analysis *a, pid_t tid, const char **comm)
{
	return g->by == BY_COMM ? analysis_hash(*comm)
	       : g->by == BY_PID ? grouping_process(g, a, tid, comm) : (uint64_t)tid;
}

/* Call it when a row was added for a task. If there are too many tasks, it merges rows by name. */
void grouping_count(struct grouping *g, struct distributions *rows, pid_t tid);
/* The columns of grouping_put(). Text leaves out columns without values; JSON has all. */
enum { GROUPING_COLUMNS = 2 };
void grouping_columns(const struct grouping *g, struct table_column columns[GROUPING_COLUMNS]);
/* Merges the rows of tasks that have the same name. */
void grouping_merge(struct distributions *rows);
/* Call it when the next table begins. */
void grouping_next(struct grouping *g);

/* The cells of the first two columns of a row: the name and the id. */
void grouping_put(const struct distribution *d, struct table *t);
#endif
