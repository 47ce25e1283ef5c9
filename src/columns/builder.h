/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds batches from samples. A row is copied into columns that have room for a full batch;
 * only new texts, and arrays of bytes as they grow, take memory.
 */
#ifndef COLUMNS_BUILDER_H
#define COLUMNS_BUILDER_H

#include "columns/batch.h"

struct builder;

/* The plans and the stream outlive it. A batch is full with that number of rows, BATCH_ROWS at most; 0: BATCH_ROWS, or fewer
 * if there are many columns. NULL: no memory. */
struct builder *builder_new(const struct plans *plans, struct stream *s, size_t rows);
void builder_free(struct builder *b);
/* Who numbers the call chains of samples for the column _stack; negative: null. Without it, all are null. */
typedef int32_t builder_stack_fn(void *ctx, const struct stream_event *event, const struct perf_event_header *rec);
void builder_set_stacks(struct builder *b, builder_stack_fn *number, void *ctx);
/* One sample. The arguments are those of stream_ops.sample(). True: the batch is full. */
bool builder_add(struct builder *b, const struct row_plan *plan, const struct perf_event_header *rec, const void *raw,
		 uint32_t raw_size, uint32_t cpu);
/* The same for n samples, beginning with sample `from`, builder_room() at most. */
bool builder_add_samples(struct builder *b, const struct stream_samples *v, size_t from, size_t n);
bool builder_add_alike(struct builder *b, const struct stream_alike *v, size_t from, size_t n);
/* Number of rows until the batch is full. */
size_t builder_room(const struct builder *b);
/* A row for a loss: its cause as _event, its number in _lost, its end (else its start, else the
 * sample before it on that CPU) as _time. True: the batch is full. */
bool builder_add_loss(struct builder *b, const struct stream_loss *loss);
size_t builder_rows(const struct builder *b);
/* The rows as a batch, after which the builder is empty; NULL: there are none, or no memory, and
 * then they are lost: builder_dropped(). */
struct batch *builder_take(struct builder *b);
/* Rows and values that are missing because memory was short. */
uint64_t builder_dropped(const struct builder *b);
/* Values that were decoded. */
uint64_t builder_decoded(const struct builder *b);
#endif
