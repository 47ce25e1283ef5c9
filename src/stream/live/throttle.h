/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throttling: the kernel stops an event whose samples come faster than
 * kernel.perf_event_max_sample_rate allows, until the next tick. Nothing counts the samples that
 * are missing; only the length of the pause is known.
 *
 *	THROTTLE   sample       (no samples)   UNTHROTTLE; if that record is missing,
 *	|          (one too many)              |           the event's next sample on that CPU
 *	+---------------- span ----------------+
 *
 * An event of a task is also off while the task does not run, and UNTHROTTLE is written only after
 * the task is back. The kernel ends throttling at a tick, so such an event was throttled for at
 * most one tick of the time that the task ran: its spans count for at most `longest`.
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
	bool at_most;                   /* the true time may be less than `ns` */
};

struct throttles {
	size_t nopen;                   /* read for each sample */
	struct throttle_open *open;     /* hashed by event and stream_id */
	struct throttle_total *totals;
	size_t ntotals;
	uint64_t times;                 /* THROTTLE records of all events */
	uint64_t longest;               /* ns; upper bound for one span of a task's event, or of one whose end is
					 * not known */
	bool by_leaders;                /* one record stands for all events of a group */
};

/* The event that a THROTTLE or UNTHROTTLE record belongs to. */
struct throttle_who {
	const struct stream_event *event;
	int cpu;
	uint64_t stream_id;             /* of this instance of the event, or of its group's leader */
	bool is_task;
};

/* Whether throttling is worth a line of text: at least 1 % of the time in which the event could
 * have been sampled (`observed`, ns; 0: not known). PMU events are often stopped for a moment when
 * they start. Totals for programs include every span. */
bool throttle_matters(uint64_t ns, uint64_t observed);
void throttles_free(struct throttles *t);
/* THROTTLE. 0, or -ENOMEM: then `times` includes it, but its duration is not measured. */
int throttles_begin(struct throttles *t, const struct throttle_who *who, uint64_t time);
/* UNTHROTTLE. True with the span; false if no span was open. */
bool throttles_end(struct throttles *t, const struct throttle_who *who, uint64_t time, struct throttle_span *span);
/* A sample of the event: true with a span on that CPU that it ends; false if there is none. */
bool throttles_sampled(struct throttles *t, const struct stream_event *event, int cpu, uint64_t time,
		       struct throttle_span *span);
/* The end of the run: true with one open span, cut to `longest`; false if none is left. */
bool throttles_finish(struct throttles *t, uint64_t time, struct throttle_span *span);
#endif
