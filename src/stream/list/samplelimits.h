/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on the number of delivered samples: -N of a source, and --sampling-limit. */
#ifndef STREAM_LIST_SAMPLELIMITS_H
#define STREAM_LIST_SAMPLELIMITS_H

#include "stream/state/consumer.h"

struct ring;

/* The -N of the event's source; NULL: none. */
struct stream_limit *limits_own(const struct stream_event *event);
/* Whether both limits let one more sample through; counts it. */
bool limits_allow(struct stream *s, struct ring *ring, const struct stream_event *event,
		  const struct perf_event_header *rec);
#endif
