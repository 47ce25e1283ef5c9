/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tasks do, told by the scheduler's tracepoints: run, wait to run, sleep. A switch or a
 * wake-up ends one state of a task and begins another.
 *
 * These tracepoints are hit by whoever switches or wakes, not by the task they are about. So
 * events are opened on all CPUs (or those of -C), and -p, -t and a command behind -- choose
 * tasks here; new threads and children of theirs are followed.
 */
#ifndef ANALYSIS_DURATIONS_SWITCHES_H
#define ANALYSIS_DURATIONS_SWITCHES_H

#include "analysis/durations/pairs.h"

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
	struct watched *watched;     /* tids; NULL with all set: everybody */
	bool everybody, follow, recorded;
	bool measures;               /* set before the rest: no wake-ups, but how long tasks ran; not for
				      * switches_take() */
	int *ends;                   /* pidfds of -p */
	size_t nends;
	const struct stream_event *on_switch, *on_wakeup, *on_wakeup_new, *on_fork, *on_exit;
	const struct stream_event *on_runtime;   /* NULL: a recording may lack it */
	const struct trace_field *runs, *runtime;
	const struct trace_field *prev_pid, *prev_state, *next_pid, *woken[2], *prev_comm, *next_comm,
		*woken_comm[2], *parent, *child, *gone;
	void *ctx;                   /* for switches_fn */
	struct comms *comms;         /* takes names of those whom only the kernel knows by an id; or NULL */
	bool preempted;              /* for switches_fn: the wait to run that ended began by losing the CPU */
};

/* Whom to watch: -p and -t. 0, or -1 with f. */
int switches_choose(struct switches *w, const struct stream_opts *targets, struct fault *f);
/* The same, and names the events, and takes -p and -t from the stream. For
 * analysis_ops.events. */
int switches_events(struct switches *w, struct analysis *a, struct fault *f);
/* The event of wake-ups, where a recording has both or one of them. */
const char *switches_wakeup(bool has_wakeup, bool has_waking);
/* Looks up the fields: 0, or -1 with f. */
int switches_begin(struct switches *w, struct analysis *a, struct fault *f);
/* The same where the events are known: w->on_*. */
int switches_read_fields(struct switches *w, struct fault *f);
/* Of a recording, what tells of tasks: threads of processes that were chosen, and their children. */
void switches_task(struct switches *w, const struct pev_record *rec);
void switches_free(struct switches *w);
/* Whether all processes of -p are gone. */
bool switches_are_over(struct switches *w);

/* A task's state ended: end->value has it. */
typedef void switches_fn(void *ctx, const struct analysis_sample *s, pid_t tid,
			 const struct pair_end *end);
/* Takes a sample, with w->ctx for `ended`; p holds the state each task is in, its key is the tid. */
void switches_take(struct switches *w, struct pairs *p, const struct analysis_sample *s,
		   switches_fn *ended);
/* Whether the task is one of those that were chosen. */
bool switches_watch(const struct switches *w, pid_t tid);
void switches_each(const struct switches *w, void (*fn)(void *ctx, pid_t tid), void *ctx);
/* What a switch says. False: it is another event, which may be taken in all the same. */
struct switch_event {
	pid_t prev, next;
	bool sleeps;             /* prev doesn't want to run */
};
bool switches_read(struct switches *w, const struct analysis_sample *s, struct switch_event *e);
/* Of a sample of w->on_runtime: so many ns its task has run for, up to now, beside what was reported before. */
uint64_t switches_runtime(const struct switches *w, const struct analysis_sample *s, pid_t *tid);
/* Whether the sample says something of the task, or (while it waited to run) of the CPU. */
bool switches_concern(const struct switches *w, const struct analysis_sample *s, pid_t tid,
		      uint32_t cpu);
#endif
