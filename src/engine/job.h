/* SPDX-License-Identifier: Apache-2.0 */
/* The command that a run starts and watches: a workload, and what the stream has to know of it. */
#ifndef ENGINE_JOB_H
#define ENGINE_JOB_H

#include "stream/stream.h"
#include "tasks/workload.h"

struct job {
	struct workload workload;
	bool is_there;                 /* false: no command */
	bool is_target;                /* the only one */
	bool is_among_all;             /* it was, but events of all tasks are needed */
	bool ends_first;               /* the run may end before it: --seconds or -N */
	int verbose;
};
#define JOB_NONE { .workload = { .pidfd = -1, .go = -1, .trouble = -1 } }

/* Forks the command's process, which waits; it is the target unless options name another. Before stream_new().
 * 0, or -1 with f. */
int job_prepare(struct job *j, char *const *argv, bool everybody, struct stream_opts *o, struct fault *f);
/* Before stream_open(): what the process does before exec is not the command's. */
void job_attach(const struct job *j, struct stream *s);
/* After stream_open(): the run ends with the command. */
void job_end_with(const struct job *j, struct stream *s);
/* For stream_ops.started. 0, or -1 with f. */
int job_start(struct job *j, struct fault *f);
/* After the run: the command's exit status; 0 if it still runs: then it is ended. */
int job_collect(struct job *j, const struct stream *s);
/* After job_collect(): reports on stderr a signal that ended the command; not with -q. */
void job_tell(const struct job *j);
void job_abandon(struct job *j);
#endif
