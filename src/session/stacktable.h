/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The different call stacks of a session by number, for the column _stack. The session's thread numbers them and alone looks up
 * names: of stacks that another thread asks for, when it has time, and of the others at the end. A name that takes long to find
 * does not hold it up: the stack is asked for again. The table keeps copies, so it outlives the run.
 */
#ifndef SESSION_STACKTABLE_H
#define SESSION_STACKTABLE_H

#include "columns/batch.h"
#include "stream/stream.h"

struct stacktable;
struct pev_record;

/* NULL: no memory. */
struct stacktable *stacktable_new(void);
void stacktable_free(struct stacktable *t);

/* ---- the session's thread ---- */

/* Before and after stream_open(). 0, or -1 with f. */
int stacktable_open(struct stacktable *t, struct stream *stream, const struct opener *opener, struct fault *f);
int stacktable_watch(struct stacktable *t, struct fault *f);
/* A record of stream_ops.task. */
void stacktable_take(struct stacktable *t, const struct pev_record *rec);
/* A builder_stack_fn: the number of the sample's stack. */
int32_t stacktable_number(void *table, const struct stream_event *event, const struct perf_event_header *rec);
/* To be called often: looks up what other threads wait for, for some ms at most. */
void stacktable_answer(struct stacktable *t);
/* No more stacks come. From now on, who waits does so until stacktable_finish() has looked up what is missing: no stack is
 * left without the names that can be found. */
void stacktable_end(struct stacktable *t);
/* After the run, before the stream is freed: looks up all the rest. */
void stacktable_finish(struct stacktable *t);

/* ---- any thread ---- */

/* The number of stacks so far; they are 0 to that. */
size_t stacktable_count(struct stacktable *t);
/* The number of samples that had that stack so far. */
uint64_t stacktable_samples(struct stacktable *t, size_t stack);
/* The number of samples that have no stack because the table is full. */
uint64_t stacktable_refused(struct stacktable *t);
#define STACKS_ALL SIZE_MAX
/* Waits for the names of a stack, or of all so far, for `ms` at most. Whether all that can be found are there. */
bool stacktable_wait(struct stacktable *t, size_t stack, unsigned int ms);
/* Whether the run has ended, and names are still looked up. */
bool stacktable_is_ending(struct stacktable *t);
/* Stacks below this have all names that can be found. */
size_t stacktable_settled(struct stacktable *t);
/* The frames of a stack, innermost first, as numbers; the caller frees them. Their number, or -1: no memory. */
ssize_t stacktable_frames(struct stacktable *t, size_t stack, int32_t **frames);
/* Two tables: stacks with the numbers of their frames, and the frames from number `from` on. NULL: no memory. */
struct batch *stacktable_stacks_batch(struct stacktable *t);
struct batch *stacktable_frames_batch(struct stacktable *t, size_t from);
#endif
