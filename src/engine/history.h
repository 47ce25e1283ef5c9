/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last samples, copied into a bounded ring: for what happened between the beginning of
 * something and its end, when that turns out to have taken too long.
 */
#ifndef ENGINE_HISTORY_H
#define ENGINE_HISTORY_H

#include "engine/analysis.h"

struct history;

/* NULL without memory. */
struct history *history_new(size_t bytes);
void history_free(struct history *h);
/* The oldest ones make room. Copies rec and what of raw does not lie in it, and what its
 * task is called (NULL: nobody will ask). */
void history_add(struct history *h, const struct analysis_sample *s, const char *comm);
typedef void history_fn(struct analysis *a, const struct analysis_sample *s, const char *comm, void *ctx);
/* How many are in it, and how many made room for others. */
size_t history_count(const struct history *h);
uint64_t history_overwritten(const struct history *h);
/* Forgets all that is in it; nothing is overwritten by that. */
void history_clear(struct history *h);
/* Samples with from <= time <= to, oldest first. False: those before some time are gone,
 * which lies behind `from`. */
bool history_each(struct history *h, struct analysis *a, uint64_t from, uint64_t to,
		  history_fn *fn, void *ctx);
#endif
