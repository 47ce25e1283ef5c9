/* SPDX-License-Identifier: Apache-2.0 */
/* What signals, the interval timer and the watchdog ask of a run: see live/attention.h. */
#ifndef STREAM_RINGS_ATTEND_H
#define STREAM_RINGS_ATTEND_H

#include "base/fault.h"
#include "stream/state/consumer.h"

#include <stdbool.h>
#include <stdint.h>

/* Signals and the watchdog, from here to stream_free(). 0, or -1 with f. */
int attend_begin(struct stream *s, const struct stream_ops *ops, void *ctx, uint64_t interval_ms, struct fault *f);
/* Does what was asked for since the last call. To be called when attention_pending(). */
void attend_requests(struct stream *s);
/* While it is so, a callback that does not return is interrupted. */
void attend_set_delivering(struct stream *s, bool on);
#endif
