/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a script that take batches: sched__sched_switch__batch(batch) those of one event, __batch__(batch) those of
 * all events that have no function of their own. Each has its rows; it is called when a batch is full or its first row has
 * waited for 50 ms.
 */
#ifndef PYTHON_BATCHES_H
#define PYTHON_BATCHES_H

#include "base/fault.h"
#include "python/batch.h"
#include "stream/stream.h"

struct row_plan;
struct batches;
struct batch_function;

struct batches_opts {
	PyObject *fields;               /* list of names of columns, or None: all */
	struct stream *stream;
	const struct batch_types *types;
	size_t rows;                    /* of a full batch */
	/* Calls the function, whose name is `name`, and handles its exception. batch NULL: instead of a batch, there is an
	 * exception to be handled. */
	void (*call)(void *ctx, PyObject *function, const char *name, PyObject *batch);
	void *ctx;
};

/* NULL with an exception. Uses opts->fields no longer. */
struct batches *batches_new(const struct batches_opts *opts);
void batches_free(struct batches *b);
/* The function of that name takes the event's samples. NULL: out of memory. */
struct batch_function *batches_take(struct batches *b, const struct stream_event *event, const char *name, PyObject *function);
/* Chooses columns, once functions are chosen. Uses `wanted` and `consumer` of the events. 0, or -1 with f. */
int batches_settle(struct batches *b, int verbose, struct fault *f);
/* How samples of the event become rows of the function. After batches_settle(). */
const struct row_plan *batches_plan(const struct batch_function *function, const struct stream_event *event);

/* One sample. Hot path. */
void batches_add(struct batch_function *function, const struct row_plan *plan, const struct perf_event_header *rec,
		 const void *raw, uint32_t raw_size, uint32_t cpu);
/* A row for each function, or for the one that takes the event that was throttled. */
void batches_add_loss(struct batches *b, const struct stream_loss *loss);
/* The loop is about to sleep: delivers rows that have waited long enough. */
void batches_idle(struct batches *b);
/* Delivers all rows. */
void batches_flush(struct batches *b);
/* Rows and values that are missing because memory was short. */
uint64_t batches_dropped(const struct batches *b);
#endif
