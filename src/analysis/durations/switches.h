/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's tracepoints: who leaves a CPU, and who gets it.
 *
 * These tracepoints are hit by the task that switches or wakes, not by the task that they are about. So
 * events are opened on all CPUs (or those of -C), and -p, -t and a command behind -- choose
 * tasks here; new threads and children of theirs are followed.
 */
#ifndef ANALYSIS_DURATIONS_SWITCHES_H
#define ANALYSIS_DURATIONS_SWITCHES_H

#include "base/hash.h"
#include "engine/analysis.h"

enum task_state {
	STATE_RUNNING, STATE_RUNNABLE,
	STATE_SLEEPING, STATE_BLOCKED, STATE_STOPPED, STATE_TRACED, STATE_IDLE, STATE_PARKED,
	STATE_OTHER,
	TASK_STATES
};
/* "R", "RD", "S", "D", "T", "t", "I", "P", "?" */
const char *task_state_letter(enum task_state state);
/* "running", "waiting to run", "asleep", ... */
const char *task_state_words(enum task_state state);

/* Whether the state that /proc calls by that letter is a sleep of any kind, and which. */
bool task_state_sleeps(char letter, enum task_state *state);

struct switches {
	struct watched *watched;     /* tids */
	bool everybody;              /* they are all watched */
	bool follow, recorded;
	int *ends;                   /* pidfds of -p */
	size_t nends;
	const struct stream_event *on_switch;
	const struct stream_event *on_fork, *on_runtime;   /* NULL: not watched, or not recorded */
	const struct trace_field *prev_pid, *prev_state, *next_pid, *prev_comm, *next_comm;
	const struct trace_field *parent, *child, *runs, *runtime;
	struct comms *comms;         /* gets the names of tasks that only the kernel knows by an id; or NULL */
};

/* Whom to watch: -p and -t. 0, or -1 with f. */
int switches_choose(struct switches *w, const struct stream_opts *targets, struct fault *f);
/* The same for a command, whose events are opened everywhere: takes -p and -t from the stream. */
int switches_take_targets(struct switches *w, struct analysis *a, struct fault *f);
/* Of a recording, what tells of tasks: threads of processes that were chosen, and their children. */
void switches_task(struct switches *w, const struct pev_record *rec);
void switches_free(struct switches *w);
/* Whether all processes of -p are gone. */
bool switches_are_over(struct switches *w);
/* Whether the task is one of those that were chosen. */
bool switches_watch(const struct switches *w, pid_t tid);
void switches_each(const struct switches *w, void (*fn)(void *ctx, pid_t tid), void *ctx);

/* Looks up the fields of on_switch, on_fork and on_runtime: 0, or -1 with f. */
int switches_read_fields(struct switches *w, struct fault *f);
enum { SWITCH_LEAVES = 0x10 | 0x20 };   /* in prev_state: X, Z; the task won't come back */
/* The task that a field names. */
pid_t switches_task_in(const struct analysis_sample *s, const struct trace_field *field);
/* /proc has no name of a task for which only the kernel's own id is known: the sample has. */
void switches_name(struct switches *w, const struct analysis_sample *s, pid_t tid, const struct trace_field *comm);
/* A sample of on_fork: a child of a watched task is watched. */
void switches_take_fork(struct switches *w, const struct analysis_sample *s);

/* ---- for an analysis of time on and off the CPU: no wake-ups, but how long tasks ran ---- */

/* For analysis_ops.events and .begin. 0, or -1 with f. */
int switches_events(struct switches *w, struct analysis *a, struct fault *f);
int switches_begin(struct switches *w, struct analysis *a, struct fault *f);
/* What a switch says. False: it is another event; a fork has been taken in. */
struct switch_event {
	pid_t prev, next;
	bool sleeps;             /* prev doesn't want to run */
};
bool switches_read(struct switches *w, const struct analysis_sample *s, struct switch_event *e);
/* Of a sample of w->on_runtime: so many ns its task has run for, up to now, beside what was reported before. */
uint64_t switches_runtime(const struct switches *w, const struct analysis_sample *s, pid_t *tid);
#endif
