/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of a call goes that begins and ends in the same thread: the parts of it in which the thread ran, waited for a
 * CPU, slept or was blocked (states.h), and which tasks ran meanwhile or woke it.
 *
 *	start: runs      sched_switch: sleeps      sched_waking      sched_switch: runs      end
 *	|--- running ---|--- asleep, blocked -----|--- waiting -----|--- running -----------|
 *
 * At its start and end the thread runs: it is what these events happen in. What lies between two events that contradict each
 * other is `unknown`: the kernel has left out an event in between.
 */
#ifndef ANALYSIS_DURATIONS_BREAKDOWN_H
#define ANALYSIS_DURATIONS_BREAKDOWN_H

#include "analysis/durations/culprits.h"
#include "analysis/durations/states.h"
#include "analysis/durations/waiton.h"

enum breakdown_part { PART_RUNNING, PART_WAITING, PART_ASLEEP, PART_BLOCKED, PART_OTHER, PART_UNKNOWN, BREAKDOWN_PARTS };

/* Why a time is unknown: the kernel did not report a switch; events were lost; there were too many threads in calls. */
enum breakdown_why { WHY_UNREPORTED, WHY_LOST, WHY_FULL, BREAKDOWN_WHYS };

/* A task: of a wait for a CPU, one that ran meanwhile; of a sleep, the one that ended it. */
struct breakdown_whom {
	struct {
		uint64_t part, name;     /* name: in `words` */
		int64_t tid;             /* 0: it is no task, or has no id here */
	} key;
	uint64_t ns;
};

/* Sleeps with the same stack, on the same object, that tasks of the same name ended. */
struct breakdown_wait {
	struct {
		uint64_t part, waker, on;    /* waker, on: in `words`; on: with --on, else 0 */
		struct callstack *stack;     /* NULL: not known */
	} key;
	uint64_t times, ns;
};

/* The parts of one call, or the sums of several. Initialized by zeros. */
struct breakdown_sums {
	uint64_t calls, total;       /* ns */
	uint64_t ns[BREAKDOWN_PARTS];   /* they add up to the total */
	uint64_t why[BREAKDOWN_WHYS];   /* ns: they add up to ns[PART_UNKNOWN] */
	struct groups whom;          /* of struct breakdown_whom */
	struct groups waits;         /* of struct breakdown_wait; none without stacks and --on */
};
void breakdown_sums_add(struct breakdown_sums *to, const struct breakdown_sums *from);
void breakdown_sums_free(struct breakdown_sums *sums);

struct breakdown {
	struct states states;        /* of the threads that are in a call; its question has only what states.c uses */
	bool on;                     /* the option */
	bool shows_on;               /* --on: what is waited on, too */
	bool has_said_full;
	const struct stream_event *on_waking;
	const struct stream_event *on_stack;     /* a sched_switch with call chains, maybe of the targets alone; or NULL */
	const struct trace_field *flags;     /* of on_waking */
	const struct stream_event *on_enter, *on_leave;      /* of system calls: --on */
	const struct trace_field *call_nr, *args;            /* of on_enter */
	struct waiton waiton;
	struct culprits runs;
	struct groups threads;       /* of struct breakdown_thread */
	struct breakdown_sums call;  /* the one that has ended last */
	struct words words;
	struct waitkinds kinds;      /* of what was waited on */
};

/* Adds the events to those of -e: 0, or -1 with f. */
int breakdown_events(const struct breakdown *b, struct analysis *a, struct fault *f);
/* Whether it is one of these. */
bool breakdown_has(const struct stream_event *event);
/* If f says that a recording lacks one of them: says which ones are needed. */
void breakdown_explain(const char *input, struct fault *f);
/* Finds the events, and has them opened for all tasks, except for the one with call chains: 0, or -1 with f. */
int breakdown_begin(struct breakdown *b, struct analysis *a, struct fault *f);
/* A sample of these events. */
void breakdown_sample(struct breakdown *b, const struct analysis_sample *s);
void breakdown_lost(struct breakdown *b, const struct stream_loss *loss);
/* Between two tables: stacks that are in no call's sums may be dropped. */
void breakdown_rest(struct breakdown *b);
/* A call starts at that sample of its thread; and ends: sets b->call. */
void breakdown_start(struct breakdown *b, const struct analysis_sample *s);
void breakdown_end(struct breakdown *b, const struct analysis_sample *s, const struct pair_end *end);
void breakdown_free(struct breakdown *b);
#endif
