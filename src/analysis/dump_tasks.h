/* SPDX-License-Identifier: Apache-2.0 */
/* The asyncio tasks of a process, as a tree: below each task those for which it waits. */
#ifndef ANALYSIS_DUMP_TASKS_H
#define ANALYSIS_DUMP_TASKS_H

#include "analysis/dump_merge.h"
#include "pystack/pystack.h"

struct dump_task {
	pid_t tid;               /* 0: its thread has ended */
	uint64_t id;
	char *name;
	enum pystack_task_state state;
	bool torn, cut;
	struct dump_script *scripts;   /* innermost first */
	size_t nscripts;
	uint64_t *awaiters;      /* the tasks that wait for it: ids; once sorted, where they are in the list */
	size_t nawaiters;
	bool awaiters_cut;       /* there are more */
	unsigned int depth;      /* in the tree; 0: none of its thread's tasks waits for it */
};

struct dump_tasks {
	struct dump_task *v;
	size_t n, room;
	bool incomplete;
};

struct dump_script dump_script_of(const struct pystack_frame *frame);
/* Appends a copy; names in its frames are not copied. False: out of memory. */
bool dump_tasks_add(struct dump_tasks *all, const struct pystack_task *task);
/* When all are there: puts them into the tree's order, a task below the first of those that wait for it. False: out of memory. */
bool dump_tasks_sort(struct dump_tasks *all);
void dump_tasks_free(struct dump_tasks *all);
#endif
