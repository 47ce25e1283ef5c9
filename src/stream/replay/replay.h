/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in the place of rings (--input). Its events are picked by the same event list,
 * its samples go through the same order, filters and limits, and to the same consumer; its
 * clock is the recorder's. Nothing of this machine is asked but whether it is the recorder.
 */
#ifndef STREAM_REPLAY_REPLAY_H
#define STREAM_REPLAY_REPLAY_H

#include "stream/recording/facts.h"
#include "stream/state/consumer.h"

struct replay;

/* Opens the descriptor of --input, if it was given: 0, or -1 with f. Before stream_new(). */
int stream_open_input(struct stream_opts *opts, struct fault *f);
/* What is printed goes to --output from here on, if it was given: 0, or -1 with f, as when that is the recording itself. */
int stream_start_output(struct stream_opts *opts, struct fault *f);
/* The recording's events as those of the stream: 0, or -1 with f. */
int replay_new(struct stream *s, struct fault *f);
void replay_free(struct stream *s);
/* In the place of opening: 0, or -1 with f. */
int replay_open(struct stream *s, struct fault *f);
int replay_run(struct stream *s, const struct stream_ops *ops, void *ctx, struct fault *f);
/* See stream_leaders(). */
struct stream_event *replay_leaders(struct stream *s, size_t *n);
/* What the recording says of an event of the stream. */
const struct perfdata_event *replay_event(const struct stream *s, const struct stream_event *event);
/* How its samples are decoded, as they are delivered. */
void replay_format(const struct stream *s, const struct stream_event *event, struct pev_format *format);
#endif
