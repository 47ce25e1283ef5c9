/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of the targets that have not returned: they are in no table, and may be what the user looks for. A
 * call that began before the run causes no event at all; /proc/TID/syscall says that the thread is in it. Of a recording, only
 * calls that began in it are known.
 */
#ifndef ANALYSIS_SYSCALLS_UNRETURNED_H
#define ANALYSIS_SYSCALLS_UNRETURNED_H

#include "analysis/durations/gaps.h"
#include "analysis/durations/sleepers.h"
#include "rows/question.h"

/* Initialized by zeros. */
struct unreturned {
	struct sleepers before;          /* threads that sleep since before the run */
	bool looked;                     /* at those, before the last table */
	struct groups told;      /* of struct unreturned_told: calls that the text has named, by thread */
	/* A sys_enter: whether a thread that is in that call now may have been in it since the pair began. */
	bool (*is_in)(const struct question *q, const struct open_pair *o, int64_t call);
	bool (*wants)(const struct question *q, int64_t call);   /* whether the user wants to see that call */
	bool is_whole;                   /* the value of a pair is the number of its call, and no filter leaves out calls */
	const struct gaps *gaps;         /* where ends of calls may be lost */
	const struct stream_event *enter;   /* its event, of which a filter may leave out calls */
};

/* Before events are opened: takes the threads of -p and -t; none if the events are recorded. */
void unreturned_begin(struct unreturned *u, const struct stream_opts *opts);
/* Prints a line for each such call, the longest first; with --json, a table. Before the last table, the text names only calls that
 * lasted since before `from`, and each once. */
void unreturned_print(struct unreturned *u, struct question *q, uint64_t from);
void unreturned_free(struct unreturned *u);
#endif
