/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of tasks in PID namespaces. In a PID namespace, fields of tracepoints have the ids of the
 * initial namespace, and everything else has those of the namespace. tasks/pidmap.h pairs them: at
 * the start for all threads in /proc (by asking the kernel), then with each fork and each sample.
 * Samples without fields have tid 0 for tasks outside of the namespace, as for an idle CPU: what they ran tells them apart
 * (idlecode.h). Outside of such a namespace, live events need no pairs (`ids` is NULL); events of recordings get
 * them, because the recording may be from one.
 */
#ifndef STREAM_RINGS_IDS_H
#define STREAM_RINGS_IDS_H

#include "stream/state/consumer.h"
#include "tasks/pidmap.h"

struct event_ids;

/* stream_tid() with pairs; tid is the one in the sample. */
pid_t ids_of_sample(struct event_ids *ids, const struct perf_event_header *rec,
		    const void *raw, pid_t tid);
/* stream_tid() for a recording without pairs, of a sample with tid 0. */
pid_t ids_of_nobody(const struct stream_event *event, const struct perf_event_header *rec, const void *raw);
/* stream_tid() for a sample with tid -1: of tracepoints, common_pid has the id. */
pid_t ids_of_exiting(const struct stream_event *event, const void *raw);
pid_t ids_of_field(struct event_ids *ids, pid_t id);
void ids_ended(struct event_ids *ids, pid_t id);

/* The task of a sample. If only its id in the initial namespace is known: that id | PIDMAP_OUTER.
 * 0: idle; -1: exiting, in a recording or a sample of no tracepoint. */
static inline pid_t stream_tid(const struct stream_event *event, const struct perf_event_header *rec,
			       const void *raw)
{
	pid_t tid = (pid_t)layout_u32(rec, event->layout.tid + 4);

	if (__builtin_expect(event->ids != NULL, 0))
		return ids_of_sample(event->ids, rec, raw, tid);
	if (__builtin_expect(tid == -1, 0) && event->opened.track == NO_TRACK)   /* recordings have what perf shows */
		return ids_of_exiting(event, raw);
	return __builtin_expect(tid != 0 || event->opened.track == NO_TRACK, 1) ? tid : ids_of_nobody(event, rec, raw);
}

/* The same for a task that is named by a field of this event. */
static inline pid_t stream_task(const struct stream_event *event, pid_t id)
{
	return __builtin_expect(event->ids != NULL, 0) ? ids_of_field(event->ids, id) : id;
}

/* The names of tasks to look up a task in: `inner`, or those of tasks outside of the PID namespace, which /proc does not have:
 * they are learned from fields such as prev_comm. */
struct comms *ids_names(const struct stream *s, struct comms *inner, pid_t tid);

/* Whether all live samples with tid 0 are of idle CPUs: this is the initial PID namespace, or call chains tell. */
bool stream_tells_idle(const struct stream *s);

/* The same without an event. */
pid_t stream_named(const struct stream *s, pid_t id);

/* Reports that a task, as a field of this event names it, has ended. */
static inline void stream_task_ended(const struct stream_event *event, pid_t id)
{
	if (__builtin_expect(event->ids != NULL, 0))
		ids_ended(event->ids, id);
}
#endif
