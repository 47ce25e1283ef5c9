/* SPDX-License-Identifier: Apache-2.0 */
/* Rings while they are read: losses, ids of tasks, and who holds their descriptors. */
#ifndef STREAM_RINGS_RINGS_H
#define STREAM_RINGS_RINGS_H

#include "stream/state/state.h"

/* ids.c */
/* Pairs the ids of tasks; call it when the consumer has chosen its events. 0, or -1 with f. */
int ids_begin(struct stream *s, struct fault *f);
void ids_end(struct stream *s);
/* Whether ids mean the same to the kernel, /proc and perf-prof, or can be paired: 0, or -1 with f. */
int ids_check(struct fault *f);
/* A sideband_fn; ctx is the struct stream. Learns pairs of ids, and passes the record to the consumer. */
void ids_take_task(void *ctx, const struct pev_record *rec);

/* closer.c: a pipe's end that keeps another process holding the descriptors; -1: none. */
int closer_start(struct stream *s);
void closer_release(int fd);

/* loss.c */
/* start and end: times of the samples before and after the gap; 0: not known. */
void loss_add(struct stream *s, struct ring *ring, uint64_t count, enum stream_loss_cause cause,
	      uint64_t start, uint64_t end);
void loss_tail(struct stream *s);
/* Writes a LOST record into the recording, if there is one, for losses that no other record
 * reports: after the ring's last record, or of records that were no longer read. */
void loss_record(struct stream *s, const struct ring *ring, uint64_t count);
/* Writes what the kernel has counted of each sampled event into the recording of tasks, if it is in one file: a READ record. */
void loss_record_counted(struct stream *s);
/* Reads the event counts at the end; used where losses need not be reported. */
void loss_count(struct stream *s);
void loss_tell(struct stream *s, bool now);

/* throttling.c: THROTTLE and UNTHROTTLE of a ring, and samples while something is throttled. */
void throttling_take(struct stream *s, struct ring *ring, const struct stream_event *event, uint32_t type,
		     const struct pev_throttle *record);
void throttling_end(struct stream *s, struct ring *ring, const struct stream_event *event, uint64_t time);
/* Ends all spans at that time, at the end of the run. */
void throttling_finish(struct stream *s, uint64_t time);
/* Reports on stderr, at most once a second. */
void throttling_tell(struct stream *s);
#endif
