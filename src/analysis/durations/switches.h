/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's tracepoints: which task leaves a CPU, and which task gets it.
 *
 * The kernel attributes these events to the task that switches or wakes, not to the task that they are
 * about. So events are opened on all CPUs (or those of -C), and samples are filtered here by the targets
 * (-p, -t or a command); their new threads and children are followed. For control groups, /proc says which tasks are in
 * them: at the start, and when a task is first seen, then at most once a second.
 */
#ifndef ANALYSIS_DURATIONS_SWITCHES_H
#define ANALYSIS_DURATIONS_SWITCHES_H

#include "engine/analysis.h"
#include "keeper/cgroups.h"
#include "table/groups.h"

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

/* Whether the letter of a state in /proc is a sleep of any kind; *state: which. */
bool task_state_sleeps(char letter, enum task_state *state);

struct switches {
	struct groups watched;       /* of struct watched: tids */
	bool everybody;              /* all tasks are watched, but those of perf-prof are not: */
	const struct analysis *a;    /* whose stream knows these; NULL: none is left out */
	pid_t *own;                  /* answers of that stream: the tid if it is one of these, else its negative */
	struct cgroups groups;       /* of --cgroup and --container; n 0: none */
	size_t noutside;             /* at most as many tasks in `watched` are outside of them */
	bool follow, recorded;       /* --inherit; events are from a recording */
	int *ends;                   /* pidfds of -p */
	size_t nends;
	bool few;                    /* of few tasks: on_stack is another event, opened for these tasks alone */
	const struct stream_event *on_switch, *on_stack;   /* on_stack: the one with call chains; may be on_switch */
	const struct stream_event *on_fork, *on_runtime;   /* NULL: not watched, or not recorded */
	const struct trace_field *prev_pid, *prev_state, *next_pid, *prev_comm, *next_comm;
	const struct trace_field *parent, *child, *runs, *runtime;
};

/* Watches the tasks of -p and -t. 0, or -1 with f. */
int switches_choose(struct switches *w, const struct stream_opts *targets, struct fault *f);
/* Watches a command and the tasks of control groups. Removes all these targets from the stream, whose events are opened for all tasks. */
int switches_take_targets(struct switches *w, struct analysis *a, struct fault *f);
/* In a recording: COMM and FORK records add threads of watched processes, and their children. */
void switches_task(struct switches *w, const struct pev_record *rec);
/* In a recording: an event was of that task, or about it. */
void switches_had_event(struct switches *w, pid_t tid);
/* In a recording: whether the task has had no event so far, though it existed when the recording began. If its wake-up comes next,
 * it slept until then. */
bool switches_slept_before(const struct switches *w, pid_t tid);
/* In a recording: how many watched threads it knows, but has no event of. *none: of the watched tasks, it knows none at all. */
size_t switches_without_event(const struct switches *w, bool *none);
/* A line about them: they may have waited throughout. */
void switches_print_eventless(const struct switches *w);
void switches_free(struct switches *w);
/* Whether there are processes of -p, and all have ended. */
bool switches_are_over(struct switches *w);
/* Whether the task is watched. */
bool switches_watch(const struct switches *w, pid_t tid);
void switches_each(const struct switches *w, void (*fn)(void *ctx, pid_t tid), void *ctx);

/* Looks up the fields of on_switch, on_fork and on_runtime: 0, or -1 with f. */
int switches_read_fields(struct switches *w, struct fault *f);
enum { SWITCH_UNINTERRUPTIBLE = 0x2 };   /* prev_state: D */
enum { SWITCH_LEAVES = 0x10 | 0x20 };   /* in prev_state: X, Z; the task has exited */
/* The task whose id is in a field. */
pid_t switches_task_in(const struct analysis_sample *s, const struct trace_field *field);
/* A sample is about a task: finds out whether it is in the watched groups. */
void switches_meet(struct switches *w, const struct analysis_sample *s, pid_t tid);
/* A sample of on_fork: a child of a watched task is watched. */
void switches_take_fork(struct switches *w, const struct analysis_sample *s);

/* ---- for an analysis of the time on and off the CPU: switches and run times ------------- */

/* For analysis_ops.events and .begin: 0, or -1 with f. The stacks of all tasks of a machine would be megabytes a
 * millisecond: if few tasks are watched, their switches with stacks are an event of these tasks, and a second one without
 * stacks has the switches of all. Both report the same switch, in any order. */
int switches_events(struct switches *w, struct analysis *a, struct fault *f);
int switches_begin(struct switches *w, struct analysis *a, struct fault *f);
bool switches_is_switch(const struct stream_event *event);
/* Reads a sched_switch, on_switch or on_stack. False: it is another event; forks are processed. */
struct switch_event {
	pid_t prev, next;
	bool sleeps;             /* prev sleeps, and could not run on */
	bool preempted;          /* prev could run on */
};
bool switches_read(struct switches *w, const struct analysis_sample *s, struct switch_event *e);
/* For a sample of w->on_runtime: the ns that its task (*tid) has run since the previous report. */
uint64_t switches_runtime(const struct switches *w, const struct analysis_sample *s, pid_t *tid);
#endif
