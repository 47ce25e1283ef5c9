/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --input: a recording instead of rings. The same event list chooses its events, its samples pass
 * through the same order, filters and limits to the same consumer, and its clock is the recorder's.
 * Nothing is read from this machine, except to find out whether it made the recording.
 */
#ifndef STREAM_REPLAY_REPLAY_H
#define STREAM_REPLAY_REPLAY_H

#include "stream/recording/facts.h"
#include "stream/state/consumer.h"

struct replay;

/* Opens the file of --input, if given. 0, or -1 with f. Before stream_new(). */
int stream_open_input(struct stream_opts *opts, struct fault *f);
/* Whether the file `path`, which may be NULL, is the recording of --input. */
bool stream_is_input(const struct stream_opts *opts, const char *path);
/* Starts --output, if given. 0, or -1 with f, for example if that file is the recording itself. */
int stream_start_output(struct stream_opts *opts, struct fault *f);
/* Makes the recording's events those of the stream. 0, or -1 with f. */
int replay_new(struct stream *s, struct fault *f);
void replay_free(struct stream *s);
/* stream_open() for a recording. 0, or -1 with f. */
int replay_open(struct stream *s, struct fault *f);
int replay_run(struct stream *s, const struct stream_ops *ops, void *ctx, struct fault *f);
/* See stream_leaders(). */
struct stream_event *replay_leaders(struct stream *s, size_t *n);
/* The recorded event. */
const struct perfdata_event *replay_event(const struct stream *s, const struct stream_event *event);
/* True: the event was recorded for a command (enable_on_exec). The kernel then records only what that command's tasks
 * do themselves: not when others wake them, or run in their place. False for live events. */
bool replay_is_of_command(const struct stream *s, const struct stream_event *event);
/* Whether the event was recorded for processes or threads (-p, -t), by the recorder's command line. Not known of a pipe's
 * recording. */
bool replay_is_of_tasks(const struct stream *s, const struct stream_event *event);
/* How to decode its samples as they are delivered. */
void replay_format(const struct stream *s, const struct stream_event *event, struct pev_format *format);
#endif
