/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about the states of tasks: run, wait to run, sleep. A switch or a wake-up ends one state of a task and begins
 * another; a pair (rows/pairs.h) is a state, its key the tid. The scheduler's tracepoints are hit by the task that
 * switches or wakes, not by the task that they are about: see switches.h.
 */
#ifndef ANALYSIS_DURATIONS_STATES_H
#define ANALYSIS_DURATIONS_STATES_H

#include "analysis/durations/switches.h"
#include "rows/question.h"

/* At the head of a config. */
struct states {
	struct question question;
	struct switches switches;
	const struct stream_event *on_wakeup, *on_wakeup_new, *on_exit;   /* on_exit: NULL where it isn't watched */
	const struct trace_field *woken[2], *woken_comm[2], *gone;        /* [1]: of on_wakeup_new */
	bool preempted;              /* the wait to run that has ended began by losing the CPU, not by a wake-up */
};

/* In struct question_ops, of whose events the first field is the task: what these questions share. ended() is called for each state that ends, with that state (enum
 * task_state) as end->value. */
#define STATES_QUESTION STATES_QUESTION_WITH(states_events, states_begin, states_sample, states_release)
/* The same with functions of its own, which call those of states.c. */
#define STATES_QUESTION_WITH(watch_fn, begin_fn, sample_fn, release_fn) \
	.tasks = true, .names = true, .states = true, .watch = watch_fn, .begin = begin_fn, \
	.sample = sample_fn, .task = states_task, .is_over = states_are_over, .release = release_fn, \
	.between = states_concern
int states_events(struct question *q, struct fault *f);
/* Parts of states_events() and states_begin(), for questions with other events: the targets, and the forks of those. */
int states_targets(struct question *q, struct fault *f);
int states_find_fork(struct question *q, struct fault *f);
int states_begin(struct question *q, struct fault *f);
void states_sample(struct question *q, const struct analysis_sample *s);
void states_task(struct question *q, const struct pev_record *rec);
bool states_are_over(struct question *q);
void states_release(struct question *q);
bool states_concern(struct question *q, const struct analysis_sample *s, const struct happening *h);

/* For questions with events of their own: the watched task that the first field of its event names, which gets the name in
 * the event's text if only the kernel knows it by an id; 0 if it isn't watched. Takes forks. *event: question_index(). */
pid_t states_named(struct question *q, const struct analysis_sample *s, size_t *event);
/* Of the sample that ended a state: the task's name, and the task that had the CPU before it (0: it was no switch) with its
 * name. Valid until the next sample. */
const char *states_comm(struct question *q, const struct analysis_sample *s, pid_t tid);
pid_t states_prev(struct question *q, const struct analysis_sample *s, char comm[16]);
/* The task that woke it; 0: it was no wake-up. */
pid_t states_waker(struct question *q, const struct analysis_sample *s);
#endif
