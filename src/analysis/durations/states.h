/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about the states of tasks: running, waiting to run, sleeping. A switch or a wake-up ends a task's state and
 * begins another. Each state is a pair (table/pairs.h) with the tid as its key. For targets, see switches.h.
 */
#ifndef ANALYSIS_DURATIONS_STATES_H
#define ANALYSIS_DURATIONS_STATES_H

#include "analysis/durations/switches.h"
#include "rows/question.h"

/* The first member of a config. */
struct states {
	struct question question;
	struct switches switches;
	const struct stream_event *on_wakeup, *on_wakeup_new, *on_exit;   /* on_exit: NULL if it is not watched */
	const struct trace_field *woken[2], *woken_comm[2], *gone;        /* [0]: on_wakeup, [1]: on_wakeup_new */
	bool preempted;              /* for ended(): the state began by preemption or a yield, not by a wake-up */
};

/* The common members of struct question_ops. In each of the question's own events, the first field is the task. ended()
 * is called at the end of each state, with the state (enum task_state) as end->value. */
#define STATES_QUESTION STATES_QUESTION_WITH(states_events, states_begin, states_sample, states_task, states_release)
/* STATES_QUESTION with the question's own functions, which call those of states.c. */
#define STATES_QUESTION_WITH(watch_fn, begin_fn, sample_fn, task_fn, release_fn) \
	.tasks = true, .names = true, .states = true, .watch = watch_fn, .add = states_asked, .begin = begin_fn, \
	.sample = sample_fn, .task = task_fn, .is_over = states_are_over, .release = release_fn, \
	.between = states_concern
int states_events(struct question *q, struct fault *f);
/* -e may name the events that are traced in any case. */
int states_asked(struct question *q, struct fault *f);
/* Parts of states_events() and states_begin() for questions with other events: the targets, and their forks. */
int states_targets(struct question *q, struct fault *f);
int states_find_fork(struct question *q, struct fault *f);
int states_begin(struct question *q, struct fault *f);
void states_sample(struct question *q, const struct analysis_sample *s);
void states_task(struct question *q, const struct pev_record *rec);
bool states_are_over(struct question *q);
void states_release(struct question *q);
bool states_concern(struct question *q, const struct analysis_sample *s, const struct happening *h);

/* For questions with events of their own: the watched task that the first field of the sample's event names; 0 if the task
 * isn't watched. If only the kernel knows the task by an id, it gets the name in the event's text. Takes forks.
 * *event: question_index(). */
pid_t states_named(struct question *q, const struct analysis_sample *s, size_t *event);
/* For the sample that ended a state: the task's name, valid until the next sample; and, for a sched_switch, the task
 * that left the CPU, with its name. */
const char *states_comm(struct question *q, const struct analysis_sample *s, pid_t tid);
pid_t states_prev(struct question *q, const struct analysis_sample *s, char comm[16]);
/* Whether an open pair is a wait for a CPU. */
bool states_waits(const struct open_pair *o);
/* The task that woke it; 0: the sample is not a wake-up. */
pid_t states_waker(struct question *q, const struct analysis_sample *s);
#endif
