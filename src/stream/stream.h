/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream: events opened on targets, their rings drained by one loop, samples handed
 * to one consumer.
 *
 *	s = stream_new(&opts, &fault);            events named, formats read; nothing open
 *	for each stream_event: set ->wanted       what nobody wants is never enabled
 *	stream_open(s, &fault);                   descriptors and rings
 *	stream_run(s, &ops, ctx, &fault);         until SIGINT, -N or the target's end
 *	stream_free(s);
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "stream/state/consumer.h"

/* Takes the event list apart, expands globs, reads formats. Opens no event. The opts
 * must outlive the stream. NULL with f. */
struct stream *stream_new(const struct stream_opts *opts, struct fault *f);
void stream_free(struct stream *s);
struct stream_event *stream_events(struct stream *s, size_t *n);
/* Whether samples of the event have counts: event->counts, while one is delivered. */
bool stream_event_has_counts(const struct stream_event *event);
/* Of a recording, with takes_counts: events that are not shown, but bear counts of those that are. */
struct stream_event *stream_leaders(struct stream *s, size_t *n);
/* Whether the text of an event that comes, be it to a source, has names of functions. */
bool stream_prints_functions(const struct stream *s);
struct tracefmt_db *stream_formats(struct stream *s);
/* Refuses events with call chains of which options leave nothing: 0, or -1 with f. */
int stream_check_chains(const struct stream *s, struct fault *f);

/* Opens all wanted events on the targets, disabled, with their rings. 0, or -1 with f. */
int stream_open(struct stream *s, struct fault *f);
/* After a change of what is wanted, which may only have become less: it is not enabled. */
void stream_settle(struct stream *s);
/* Enables, delivers until stopped, drains for at most 500 ms. 0, or -1 with f. */
int stream_run(struct stream *s, const struct stream_ops *ops, void *ctx, struct fault *f);
/* The run ends when this descriptor (a pidfd) becomes readable, too; before stream_run().
 * What has happened by then is delivered. */
void stream_end_with(struct stream *s, int fd);
/* The targets are one task that is about to exec: its events begin there; before
 * stream_open(). */
void stream_begin_with_exec(struct stream *s);
/* This child is a copy of us that execs once the run has started: what it has mapped until then
 * is not its program's; before stream_open(). */
void stream_is_to_exec(struct stream *s, pid_t pid);
/* A process that perf-prof started for itself: what it does is not delivered where the target is everybody.
 * `stream` is a struct stream: for struct helpers. */
void stream_add_own(void *stream, pid_t pid);
void stream_totals(const struct stream *s, struct stream_totals *totals);
/* Of a recording that is told in intervals: how far it came, by the perf clock; in interval() the
 * end of that one. 0: of none. */
uint64_t stream_reached(const struct stream *s);
/* Whether the events are those of a recording; NULL: of this kernel, now. */
struct replay;
const struct replay *stream_replay(const struct stream *s);
#endif
