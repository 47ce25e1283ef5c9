/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --record: a perf.data file of what is delivered, written while it is.
 *
 * Bytes go from the rings to the file as they lie there, a slice at a time, before their
 * space is given back. So the events carry what a file needs beside what delivery does:
 * an identifier, the CPU, and the address without which perf shows no call chain.
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
/* With the privilege of opening: gathers what the file begins with. 0, or -1 with f. */
int recorder_prepare(struct stream *s, struct fault *f);
/* What is there goes into the recording. */
void recorder_put_inventory(struct stream *s);

/* take.c */
/* What was taken out of a ring since `from`, up to its present position: without samples that
 * were refused (our own, or by filters here), so that a replay delivers what was delivered. */
void recorder_take(struct stream *s, struct ring *ring, uint64_t from);
/* Writes what the rings hold by now, undecoded, and nothing else is done with it. */
void recorder_drain(struct stream *s);

/* files.c */
/* What code is called that was made while it was recorded: last of all in each file. */
void recorder_put_jitnames(struct stream *s);
/* Goes on in a new file. False: its name would be that of the one before; try again. */
bool recorder_next_file(struct stream *s);

/* recorder.c */
/* With the rights of the caller: creates the file. 0, or -1 with f. */
int recorder_begin(struct stream *s, struct fault *f);
/* All rings were read to their end. */
void recorder_round(struct stream *s);
/* 0, or -1 with f: what could not be written. */
int recorder_end(struct stream *s, struct fault *f);
/* Without a file, when it came to nothing. */
void recorder_free(struct stream *s);

#endif
