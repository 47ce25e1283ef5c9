/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of how many samples are delivered: -N of a source, --sampling-limit. */
#ifndef STREAM_LIST_SAMPLELIMITS_H
#define STREAM_LIST_SAMPLELIMITS_H

#include "stream/state/consumer.h"

struct ring;

/* A source's own; NULL: there is none. */
struct stream_limit *limits_own(const struct stream_event *event);
/* Whether the source's own -N and --sampling-limit let one more through. */
bool limits_allow(struct stream *s, struct ring *ring, const struct stream_event *event,
		  const struct perf_event_header *rec);
#endif
