/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --record: writes what is delivered into a perf.data file, at the same time.
 *
 * Bytes are copied from the rings unchanged, a slice at a time, before their space returns to the
 * kernel. So samples have what a file needs in addition: IDENTIFIER, CPU, and IP, without which
 * perf shows no call chain.
 */
#ifndef STREAM_RECORD_RECORDER_H
#define STREAM_RECORD_RECORDER_H

#include "base/fault.h"
#include "perfevent/rings/ring_private.h"

#include <stdbool.h>

struct perfdata_writer;
struct ring;
struct stream;

/* head.c */
/* While privileges for opening are kept: collects the beginning of the file. 0, or -1 with f. */
int recorder_prepare(struct stream *s, struct fault *f);
/* Writes what exists now: inventory.h. */
void recorder_put_inventory(struct stream *s);

/* take.c */
/* Writes what was read from a ring, from position `from` to the present one. Leaves out samples of
 * perf-prof itself and those that filters in user space drop, so that a replay delivers the same
 * samples. */
void recorder_take(struct stream *s, struct ring *ring, uint64_t from);
/* Writes everything the rings hold now, without delivering it. */
void recorder_drain(struct stream *s);

/* files.c */
/* Writes the names of generated code, at the end of each file, and the lines of recorder_keep_folder(). */
void recorder_put_addenda(struct stream *s);
/* Keeps a line about a process's folder. */
void recorder_keep_folder(struct stream *s, const char *line);
/* Switches to a new file. False: try again later, because the present time would give it the name
 * of the previous file. */
bool recorder_next_file(struct stream *s);

/* recorder.c */
/* With the privileges of the user: creates the file. 0, or -1 with f. */
int recorder_begin(struct stream *s, struct fault *f);
/* Begins a new file if the present one is full and there is something for it: the last one of a run has its end. */
void recorder_begin_round(struct stream *s);
/* All rings have been read to their end. */
void recorder_round(struct stream *s);
/* Completes the file. 0, or -1 with f if something could not be written. */
int recorder_end(struct stream *s, struct fault *f);
/* Without recorder_end(), frees the writer, and what was not written is lost. */
void recorder_free(struct stream *s);

#endif
