/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes with which events are opened: what all events of a stream have in common is added to their own. */
#ifndef STREAM_LIST_OPENATTR_H
#define STREAM_LIST_OPENATTR_H

#include "stream/state/consumer.h"
#include "stream/watched/targets.h"

#include <perfevent.h>

/* How an event is opened on a task. */
void open_attr(const struct stream *s, const struct stream_event *event,
	       const struct task_target *task, union pev_attr_buf *buf);
/* The event that a ring belongs to: of a thread of ours, nothing is sampled by it. 0, or -errno with err. */
int open_ring_owner(const struct stream *s, int cpu, pid_t tid, struct pev_event **owner, struct pev_error *err);
/* Kernels before 6.0 refuse PERF_FORMAT_LOST. */
bool open_knows_lost_format(void);
#endif
