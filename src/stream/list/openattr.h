/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes with which events are opened: adds to an event's own what all events of a stream
 * have in common. */
#ifndef STREAM_LIST_OPENATTR_H
#define STREAM_LIST_OPENATTR_H

#include "stream/state/consumer.h"
#include "stream/watched/targets.h"

#include <perfevent.h>

/* Fills in the attributes for opening the event on this task. */
void open_attr(const struct stream *s, const struct stream_event *event,
	       const struct task_target *task, union pev_attr_buf *buf);
/* Opens the event that owns a ring: a dummy of one of our threads, without samples. 0, or -errno
 * with err. */
int open_ring_owner(const struct stream *s, int cpu, pid_t tid, struct pev_event **owner, struct pev_error *err);
/* Whether the kernel has PERF_FORMAT_LOST: since 6.0. */
bool open_knows_lost_format(void);
/* Whether samples can have the control group of their task: since 5.7. */
bool open_knows_cgroups(void);
#endif
