/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last samples, copied into a bounded ring. When a duration turns out to be too long, the
 * samples from its beginning to its end can be printed.
 */
#ifndef ENGINE_HISTORY_H
#define ENGINE_HISTORY_H

#include "engine/analysis.h"

struct history;

/* NULL: out of memory. */
struct history *history_new(size_t bytes);
void history_free(struct history *h);
/* Adds a sample; overwrites the oldest ones if the ring is full. Copies the record, which has to
 * contain the raw data, and the task's name (comm, may be NULL). */
void history_add(struct history *h, const struct analysis_sample *s, const char *comm);
typedef void history_fn(struct analysis *a, const struct analysis_sample *s, const char *comm, void *ctx);
/* The number of samples in the ring, and of samples that were overwritten. */
size_t history_count(const struct history *h);
uint64_t history_overwritten(const struct history *h);
/* Removes all samples; they do not count as overwritten. */
void history_clear(struct history *h);
/* Calls fn for samples with from <= time <= to, oldest first. False: samples after `from` were
 * overwritten. */
bool history_each(struct history *h, struct analysis *a, uint64_t from, uint64_t to,
		  history_fn *fn, void *ctx);
#endif
