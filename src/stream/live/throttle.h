/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throttling: the kernel stops an event whose samples come faster than kernel.perf_event_max_sample_rate
 * allows, until its next tick. Nobody counts what would have been sampled: what is known is the time.
 *
 * A span lasts from THROTTLE to UNTHROTTLE, or to the event's next sample on that CPU where UNTHROTTLE
 * is missing; but for the one that was too many, which the kernel writes behind THROTTLE. The event of a task that leaves its CPU is not on, throttled or not, and UNTHROTTLE
 * comes when the task is back; what the kernel takes back at a tick of the task's own time can't
 * have lasted longer than that. So such a span counts for `longest` at most.
 */
#ifndef STREAM_LIVE_THROTTLE_H
#define STREAM_LIVE_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream_event;

struct throttle_span {
	const struct stream_event *event;
	int cpu;
	uint64_t from, to;              /* ns */
};

struct throttle_total {
	const struct stream_event *event;
	int cpu;
	uint64_t times, ns;
	bool at_most;                   /* the time is no more, but may be less */
};

struct throttles {
	size_t nopen;                   /* looked at for each sample */
	struct throttle_open *open;     /* by event and stream_id */
	struct throttle_total *totals;
	size_t ntotals;
	uint64_t times;                 /* of all together */
	uint64_t longest;               /* ns */
	bool by_leaders;                /* one record is for all of a group */
};

/* Whose THROTTLE it is. */
struct throttle_who {
	const struct stream_event *event;
	int cpu;
	uint64_t stream_id;             /* of the one copy of the event, or of its group's leader */
	bool is_task;
};

/* Whether a line of text is due: from 1 % of the time on that the event could have been sampled (0: not known). A
 * PMU's event is often stopped for a moment as it starts. Totals for programs have all. */
bool throttle_matters(uint64_t ns, uint64_t observed);
void throttles_free(struct throttles *t);
/* 0, or -ENOMEM: it is counted, but its time is not. */
int throttles_begin(struct throttles *t, const struct throttle_who *who, uint64_t time);
/* UNTHROTTLE: the span, unless there is none. */
bool throttles_end(struct throttles *t, const struct throttle_who *who, uint64_t time, struct throttle_span *span);
/* A sample of the event: ends one span on that CPU; false: there is none. */
bool throttles_sampled(struct throttles *t, const struct stream_event *event, int cpu, uint64_t time,
		       struct throttle_span *span);
/* The end of all: ends one span, none of which counts for more than `longest`; false: there is none (more). */
bool throttles_finish(struct throttles *t, uint64_t time, struct throttle_span *span);
#endif
