/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/job.h"

#include "base/note.h"
#include "base/outfile.h"

#include <poll.h>

enum { EXIT_MS = 1000 };   /* a task's events end before it can be waited for */

int job_prepare(struct job *j, char *const *argv, bool everybody, struct stream_opts *o, struct fault *f)
{
	struct rlimit files;
	sigset_t none;

	if (!argv)
		return 0;
	getrlimit(RLIMIT_NOFILE, &files);
	sigprocmask(SIG_SETMASK, NULL, &none);
	if (workload_prepare(&j->workload, argv, &none, &files, (o->embedded ? WORKLOAD_EMBEDDED : 0) |
			     (o->record && outfile_descriptor(o->record) == STDOUT_FILENO ? WORKLOAD_TO_STDERR : 0), f))
		return -1;
	j->is_there = true;
	j->ends_first = o->run_ns || o->exit_n;
	j->verbose = o->verbose;
	o->command.pid = j->workload.pid;
	o->command.argv = o->pids.n || o->tids.n || o->cgroups.n ? NULL : argv;
	if (everybody || o->pids.n || o->tids.n || o->cpus.n || o->cgroups.n)
		return 0;
	j->is_target = true;
	return numlist_add(&o->pids, j->workload.pid) ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}

void job_attach(const struct job *j, struct stream *s)
{
	if (j->is_target)
		stream_begin_with_exec(s);
	if (j->is_there)
		stream_is_to_exec(s, j->workload.pid);
}

void job_end_with(const struct job *j, struct stream *s)
{
	if (j->is_there)
		stream_end_with(s, j->workload.pidfd);
}

int job_start(struct job *j, struct fault *f)
{
	return j->is_there ? workload_start(&j->workload, f) : 0;
}

int job_collect(struct job *j, const struct stream *s)
{
	struct pollfd p = { .fd = j->workload.pidfd, .events = POLLIN };
	struct rusage usage;

	if (!j->is_there || j->workload.pid <= 0)
		return 0;
	if (poll(&p, 1, stream_ended_with_targets(s) ? EXIT_MS : 0) == 1)
		return workload_collect(&j->workload, &usage);
	if (j->ends_first)
		note(j->verbose, "%s (process %d) was still running: it was ended by SIGTERM", j->workload.name, (int)j->workload.pid);
	job_abandon(j);
	return 0;
}

void job_tell(const struct job *j)
{
	if (j->is_there)
		workload_tell(&j->workload, j->verbose);
}

void job_abandon(struct job *j)
{
	workload_abandon(&j->workload);
}
