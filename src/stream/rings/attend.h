/* SPDX-License-Identifier: Apache-2.0 */
/* Handles what signals, the interval timer and the watchdog request during a run: see live/attention.h. */
#ifndef STREAM_RINGS_ATTEND_H
#define STREAM_RINGS_ATTEND_H

#include "base/fault.h"
#include "stream/state/consumer.h"

#include <stdbool.h>
#include <stdint.h>

/* Installs signal handlers and the watchdog, until stream_free(). 0, or -1 with f. */
int attend_begin(struct stream *s, const struct stream_ops *ops, void *ctx, uint64_t interval_ms, struct fault *f);
/* Handles all requests since the last call. Call it when attention_pending() is not 0. */
void attend_requests(struct stream *s);
/* While it is on, a callback that does not return after a stop is interrupted. */
void attend_set_delivering(struct stream *s, bool on);
#endif
