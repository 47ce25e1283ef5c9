/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream opens events on targets, reads their rings in one loop, and passes samples to one
 * consumer.
 *
 *	s = stream_new(&opts, &fault);            event names and formats; opens nothing
 *	for each stream_event: set ->wanted       others are not opened
 *	stream_open(s, &fault);                   opens events and rings
 *	stream_run(s, &ops, ctx, &fault);         until SIGINT, -N or the end of the targets
 *	stream_free(s);
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "stream/state/consumer.h"

/* Parses the event list, expands globs, reads formats. Opens no event. opts must outlive the
 * stream. NULL with f. */
struct stream *stream_new(const struct stream_opts *opts, struct fault *f);
void stream_free(struct stream *s);
struct stream_event *stream_events(struct stream *s, size_t *n);
/* Whether samples of the event have counts; they are in event->counts while a sample is delivered. */
bool stream_event_has_counts(const struct stream_event *event);
/* For a recording, with takes_counts: events that are not in -e, but whose samples have the counts
 * of events that are. */
struct stream_event *stream_leaders(struct stream *s, size_t *n);
/* Whether the text of a wanted event, or of one that a source watches, has names of functions. */
bool stream_prints_functions(const struct stream *s);
/* Whether samples have the control groups of their tasks. */
bool stream_samples_cgroups(const struct stream *s);
struct tracefmt_db *stream_formats(struct stream *s);
/* Fails (-1 with f) if the options leave an event with an empty call chain. Else 0. */
int stream_check_chains(const struct stream *s, struct fault *f);

/* Opens all wanted events on the targets, disabled, with their rings. 0, or -1 with f. */
int stream_open(struct stream *s, struct fault *f);
/* Call it after events were made unwanted: they are then not enabled. (No event may become wanted.) */
void stream_settle(struct stream *s);
/* Enables the events and delivers until the run is stopped; then delivers the rest: all of it if
 * the targets ended, for at most 500 ms after a signal, nothing after stream_stop() or -N. 0, or -1
 * with f. */
int stream_run(struct stream *s, const struct stream_ops *ops, void *ctx, struct fault *f);
/* The run also ends when this descriptor (a pidfd) becomes readable; what has happened by then is
 * delivered. Before stream_run(). */
void stream_end_with(struct stream *s, int fd);
/* The consumer's ready() is called when this descriptor is readable. Before stream_run(). */
void stream_watch(struct stream *s, int fd);
/* The target is one task that has not called exec yet: exec enables its events. Before stream_open(). */
void stream_begin_with_exec(struct stream *s);
/* The child is a copy of this process until it calls exec, after the run has started: its mappings
 * up to then are ignored. Before stream_open(). */
void stream_is_to_exec(struct stream *s, pid_t pid);
/* Adds a process that perf-prof started for itself: its samples are not delivered if all tasks are
 * targets. `stream` is a struct stream; a callback of struct helpers. */
void stream_add_own(void *stream, pid_t pid);
/* If all tasks are watched: whether it is a thread of this process, or one of these. */
bool stream_is_own(const struct stream *s, pid_t tid);
void stream_totals(const struct stream *s, struct stream_totals *totals);
/* For a recording with -i: how far it was read, by the perf clock; within interval(), the end of
 * that interval. 0: not a recording. */
uint64_t stream_reached(const struct stream *s);
/* The recording that is read; NULL: events of the running kernel. */
struct replay;
const struct replay *stream_replay(const struct stream *s);
/* If events are recorded: keeps a line about a process's folder in the recording, for perfdata_info.folders of its reader. */
void stream_keep_folder(struct stream *s, const char *line);
/* Whether stream_run() failed only because its recording could not be written: everything was delivered. */
bool stream_recording_failed(const struct stream *s);
#endif
