/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose ids: in a PID namespace, fields of tracepoints have the kernel's own ids, and all else has
 * those of the namespace. tasks/pidmap.h pairs them: at the start for all threads that /proc shows
 * (the kernel is asked), then by each fork and each sample. Live events outside of such a
 * namespace have no `ids`; those of recordings do, which may be of one.
 */
#ifndef STREAM_RINGS_IDS_H
#define STREAM_RINGS_IDS_H

#include "stream/state/consumer.h"
#include "tasks/pidmap.h"

struct event_ids;

/* What stream_tid() does there: tid is the sample's. */
pid_t ids_of_sample(struct event_ids *ids, const struct perf_event_header *rec,
		    const void *raw, pid_t tid);
/* The same of a recording, where ids are as samples say them, of one that says 0. */
pid_t ids_of_nobody(const struct stream_event *event, const struct perf_event_header *rec, const void *raw);
pid_t ids_of_field(struct event_ids *ids, pid_t id);
void ids_ended(struct event_ids *ids, pid_t id);

/* The task of a sample; where only the kernel's own id is known, that with PIDMAP_OUTER. 0: idle;
 * -1: on its way out. */
static inline pid_t stream_tid(const struct stream_event *event, const struct perf_event_header *rec,
			       const void *raw)
{
	pid_t tid = (pid_t)layout_u32(rec, event->layout.tid + 4);

	if (__builtin_expect(event->ids != NULL, 0))
		return ids_of_sample(event->ids, rec, raw, tid);
	return __builtin_expect(tid != 0 || event->track == NO_TRACK, 1) ? tid : ids_of_nobody(event, rec, raw);
}

/* The same of a task that a field of this event names. */
static inline pid_t stream_task(const struct stream_event *event, pid_t id)
{
	return __builtin_expect(event->ids != NULL, 0) ? ids_of_field(event->ids, id) : id;
}

/* The same without the event. */
pid_t stream_named(const struct stream *s, pid_t id);

/* This task, as a field names it, has ended. */
static inline void stream_task_ended(const struct stream_event *event, pid_t id)
{
	if (__builtin_expect(event->ids != NULL, 0))
		ids_ended(event->ids, id);
}
#endif
